class R:
    saved = []

    def __del__(self):
        R.saved.append(self)
        print("back")


r = R()
r = None
print(len(R.saved), R.saved[0].__class__.__name__)
R.saved.clear()
print("end")
