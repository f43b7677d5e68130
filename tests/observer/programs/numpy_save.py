import numpy as np, os

np.save("a.npy", np.eye(2))
print(np.load("a.npy").tolist(), os.path.getsize("a.npy"))
np.savetxt("a.csv", [[1, 2], [3, 4]], fmt="%d", delimiter=",")
print(open("a.csv").read())
