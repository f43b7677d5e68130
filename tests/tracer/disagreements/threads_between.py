import threading
def work(l): l.append(1)
def main():
    l = [0]
    t = threading.Thread(target=work, args=(l,))
    t.start(); t.join()
    x = len(l)
    y = 2
    return x
main()
