import numpy as np

rng = np.random.default_rng(5)
print(rng.integers(0, 10, 6).tolist(), np.round(rng.normal(size=3), 6).tolist())
np.random.seed(3)
print(np.random.randint(0, 100, 4).tolist())
