"""A model without torch: ONNX Runtime runs a graph of `export`. Needs the extra ``[nano]``.

The file has weights in 16 bits, and loading turns them into 32. The graph computes `Model.forward` with the
context as an input.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskcheck.files import read_json
from deskcheck.recording import InputError, MissingExtra
from deskcheck.teach.small.interpreter import Floats, Numbers

GRAPH = "model.onnx"
ABOUT = "deskcheck"
"""Key of the model's description in the graph's metadata."""


class OnnxNetwork:
    """A graph as an `interpreter.Network`. about: the `about` given to `export`."""

    def __init__(self, file: Path, threads: int = 0) -> None:
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # from 1.29 on it reports to its maker
        try:
            import onnxruntime as ort
            from onnxruntime.capi import onnxruntime_pybind11_state as errors
        except ImportError:
            raise MissingExtra("onnxruntime", "nano", "Running a model without torch") from None
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        try:
            self.session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
            self.about: dict[str, Any] = read_json(self.session.get_modelmeta().custom_metadata_map[ABOUT])
            config = self.about["config"]
        except (
            errors.Fail,
            errors.InvalidGraph,
            errors.InvalidProtobuf,
            errors.NoSuchFile,
            KeyError,
            ValueError,
        ) as error:
            raise InputError(f"{file}: has no model of deskcheck ({error}).") from error
        self.layers: int = config["layers"]
        self.heads: int = config["heads"]
        self.head: int = config["hidden_size"] // config["heads"]
        self.shift_tokens: int = config.get("shift_tokens", 0)
        self.dtype: np.dtype[Any] = np.dtype(np.float32)

    def run(
        self, tokens: Numbers, keys: Sequence[Floats], values: Sequence[Floats], lengths: Numbers
    ) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        """See `Network.run`."""
        inputs: dict[str, Any] = {"tokens": tokens, "lengths": lengths}
        for layer in range(self.layers):
            inputs[f"keys_{layer}"] = np.ascontiguousarray(keys[layer])
            inputs[f"values_{layer}"] = np.ascontiguousarray(values[layer])
        logs, *new = self.session.run(None, inputs)
        return logs, new[: self.layers], new[self.layers :]
