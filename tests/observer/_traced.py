"""A pytest plugin: each test runs under a tracer of its own, which records one module. Started by `packages.py`.

TRACED_REQUEST is JSON: `tracer` (native, reference, witness), `module` (a path), `limits`, `result` (a file). The result is, for each test,
the size of a head in four bytes, the head in JSON (`test`, `cut`, `sizes`), and the blocks.
"""

import gc
import importlib.util
import json
import os
import random
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.tracer import TraceLimits

_CHILD = Path(__file__).parents[1] / "tracer" / "_agree_child.py"


def pytest_configure(config: Any) -> None:
    request = json.loads(os.environ["TRACED_REQUEST"])
    spec: Any = importlib.util.spec_from_file_location("_agree_child", _CHILD)
    child = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)
    for name in ("native", "reference", "witness"):  # all of them: some libraries list what is loaded
        tracer_class = child.tracer_class(name)
        if name == request["tracer"]:
            chosen = tracer_class
    gc.disable()  # or it would come at the moments that a tracer's own objects bring about
    out = open(request["result"], "wb")  # noqa: SIM115 (open for as long as tests run)
    module = request["module"]

    class Plugin:
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
            if hasattr(
                getattr(item, "obj", None), "hypothesis"
            ):  # it looks at the time that its examples take
                return (yield)
            random.seed(0)
            blocks: list[bytes] = []
            tracer = chosen({module: "module.py"}, blocks.append, limits=TraceLimits(**request["limits"]))
            tracer.start()
            try:
                return (yield)
            finally:
                tracer.stop()
                if tracer.failure is not None:
                    raise tracer.failure
                head = json.dumps(
                    {"test": item.nodeid, "cut": tracer.cut, "sizes": [*map(len, blocks)]}
                ).encode()
                out.write(len(head).to_bytes(4, "little") + head + b"".join(blocks))
                out.flush()
                gc.collect()

    config.pluginmanager.register(Plugin(), "traced")
