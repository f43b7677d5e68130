def f(): pass
def main():
    d = f.__dict__
    f.tag = 1
    x = 1
    d['tag'] = [2]
    x = 2
    f.tag.append(3)
    x = 3
    vars(f)['more'] = 1
    x = 4
main()
end = 1
