"""What is said of torch's tensors beside their type: shape, dtype, device, the first numbers.

Read by methods of torch's own, of tensors and parameters themselves: a subclass may run anything. Not read:
numbers on another device than the CPU, where reading waits for it, and of sparse and quantised tensors."""

import itertools
import math
import sys
from typing import Any

_SHOWN = 10
"""Numbers of a tensor."""
TYPES = ("torch.Tensor", "torch.nn.parameter.Parameter")


def describe(tensor: Any) -> dict[str, Any]:
    """Of a tensor what JSON can hold. head: its first numbers, in order of its axes from the last."""
    torch = vars(sys.modules["torch"])
    if type(tensor) not in (torch["Tensor"], torch["nn"].Parameter):
        return {}
    found: dict[str, Any] = {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
    }
    if tensor.requires_grad:
        found["requires_grad"] = True
    if tensor.device.type == "cpu" and tensor.layout is torch["strided"] and not tensor.is_quantized:
        places = itertools.product(*map(range, tensor.shape))
        found["head"] = [_plain(tensor[place].item()) for place in itertools.islice(places, _SHOWN)]
    return found


def _plain(number: Any) -> Any:
    if type(number) is float and math.isfinite(number):
        return float(f"{number:.6g}")
    return number if type(number) in (int, bool) else str(number)
