"""Facts about torch's tensors: shape, dtype, device, the first numbers.

Only methods of torch's own tensors and parameters are called: a subclass may run anything. Not read: numbers
on other devices than the CPU, and of sparse and quantised tensors.
"""

import itertools
import math
import sys
from typing import Any

_SHOWN = 10
"""Numbers of a tensor."""
TYPES = ("torch.Tensor", "torch.nn.parameter.Parameter")


def describe(tensor: Any) -> dict[str, Any]:
    """Facts about a tensor, as JSON. head: its first numbers, with the last axis first."""
    torch = vars(sys.modules["torch"])
    if type(tensor) not in (torch["Tensor"], torch["nn"].Parameter):
        return {}
    facts: dict[str, Any] = {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
    }
    if tensor.requires_grad:
        facts["requires_grad"] = True
    if tensor.device.type == "cpu" and tensor.layout is torch["strided"] and not tensor.is_quantized:
        places = itertools.product(*map(range, tensor.shape))
        facts["head"] = [_plain(tensor[index].item()) for index in itertools.islice(places, _SHOWN)]
    return facts


def _plain(number: Any) -> Any:
    if type(number) is float and math.isfinite(number):
        return float(f"{number:.6g}")
    return number if type(number) in (int, bool) else str(number)
