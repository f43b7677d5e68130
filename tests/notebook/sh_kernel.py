"""A kernel for Jupyter of another language than Python: each cell is a script of ``sh``. For tests."""

import os
import subprocess
from typing import Any, ClassVar

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class Sh(Kernel):  # type: ignore[misc]  # of a package without types
    implementation = "sh"
    implementation_version = "1"
    banner = "sh"
    language_info: ClassVar = {"name": "sh", "mimetype": "text/x-sh", "file_extension": ".sh"}

    def do_execute(self, code: str, silent: bool, *_: Any, **__: Any) -> dict[str, Any]:
        if code.startswith("die"):
            os._exit(3)
        try:
            ran = subprocess.run(["sh", "-c", code], capture_output=True, text=True, check=False)
        except KeyboardInterrupt:
            return {"status": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": []}
        for name, text in (("stdout", ran.stdout), ("stderr", ran.stderr)):
            if text:
                self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})
        if ran.returncode:
            return {"status": "error", "ename": "", "evalue": f"status {ran.returncode}", "traceback": []}
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=Sh)
