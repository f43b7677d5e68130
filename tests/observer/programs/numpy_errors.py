import numpy as np
import warnings

with np.errstate(divide="raise"):
    try:
        np.array([1.0]) / 0
    except FloatingPointError as e:
        print(e)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    np.array([1.0]) / np.array([0.0])
    print(len(w), w[0].category.__name__)
try:
    np.zeros((2, 3)) @ np.zeros((2, 3))
except ValueError as e:
    print(type(e).__name__)
