"""Tasks of a job as tasks of Ray Core on a cluster. Needs the extra ``[scale]``.

All machines of the cluster share the job's folder, so Ray transfers only names and counts. Ray's own retries
are off, because the driver repeats tasks and has to count how often.
"""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deskcheck.errors import DeskcheckError, InputError, MissingExtra
from deskcheck.jobs.job import TaskAnswer
from deskcheck.jobs.pool import answer_of

_RECOUNT_S = 5.0  # between two counts of the cluster's processors
_CONNECT_S = 10.0
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
_STARTS = 3
_LOOPBACK = "127.0.0.1"
_AHEAD = 1
"""Tasks submitted beyond the number of processors, so that no processor waits for the driver."""


@contextmanager
def _on_loopback() -> Iterator[None]:
    """In the block, a cluster that Ray starts listens only on the loopback interface.

    Ray replaces 127.0.0.1 by the machine's network address, and listens on all interfaces for any other
    address, unless clusters of several nodes are disabled, as on macOS (`get_node_ip_address` in
    ``ray._private.services``). The processes that Ray starts inherit the environment variable.
    """
    from ray._private import ray_constants

    name = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
    old_variable, old_constant = os.environ.get(name), ray_constants.ENABLE_RAY_CLUSTER
    os.environ[name] = "0"
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = old_constant
        if old_variable is None:
            del os.environ[name]
        else:
            os.environ[name] = old_variable


def _run_task(task: dict[str, Any]) -> dict[str, Any]:
    from deskcheck.jobs.work import run_task

    return run_task(task)


class RayCluster:
    """Runs tasks on the cluster at `address`, each on one of its processors.

    address: an address for `ray.init`. By default it is the one in RAY_ADDRESS, or the cluster that runs on
    this machine; if there is none, a cluster is started, as with ``local``. An existing connection of this
    process is reused.
    at_once: the largest number of tasks at a time. By default it follows the number of processors in the
    cluster, which may change.

    Raises MissingExtra without Ray, InputError if no cluster answers at the address, DeskcheckError if none
    can be started.
    """

    def __init__(self, address: str | None = None, *, at_once: int | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault(
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0"
        )  # or Ray warns about GPUs, which deskcheck does not use
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("ray", "scale", "Recording on a Ray cluster") from error
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            self._connect(address or os.environ.get("RAY_ADDRESS"))
        self._task = ray.remote(num_cpus=1, max_retries=0)(_run_task)
        self._at_once = at_once
        self._numbers: dict[Any, int] = {}
        self._counted_at = float("-inf")
        self._processors = 1

    def _connect(self, address: str | None) -> None:
        if address == "local":
            self._start()
            return
        host, colon, port = (address or "").rpartition(":")
        if colon and port.isdecimal() and "/" not in host:
            try:  # Ray itself would try for minutes
                socket.create_connection((host, int(port)), _CONNECT_S).close()
            except OSError as error:
                raise InputError(f"--ray-address {address}: no cluster answers there: {error}") from error
        try:
            self._ray.init(address=address or "auto", **_QUIET)
        except (ValueError, RuntimeError, ConnectionError) as error:
            if address is not None:
                raise InputError(f"--ray-address {address}: no cluster answers there: {error}") from error
            self._start()

    def _start(self) -> None:
        """Start a private cluster on this machine, whose servers listen on the loopback interface.

        Ray waits only 30 seconds for its processes (`ray._private.node`), too short for a busy machine. So a
        start is tried several times.
        """
        for starts_left in reversed(range(_STARTS)):
            try:
                with _on_loopback():
                    self._ray.init(address="local", include_dashboard=False, **_QUIET)
                break
            except (TypeError, AttributeError, ValueError):  # a wrong call, not a busy machine
                raise
            except Exception as error:  # Ray has no class for a failed start
                self._ray.shutdown()
                if not starts_left:
                    raise DeskcheckError(
                        f"Ray failed to start on this machine {_STARTS} times: "
                        f"{' '.join(str(error).split())} Start Ray yourself with `ray start --head`, "
                        "which reports more."
                    ) from error
        address = self._ray.util.get_node_ip_address()
        if address != _LOOPBACK:
            self._ray.shutdown()
            raise DeskcheckError(
                f"Ray {self._ray.__version__} listens on {address}, where other machines can reach it. If "
                "you want that, start Ray yourself with `ray start --head`."
            )

    @property
    def room(self) -> int:
        if time.monotonic() - self._counted_at > _RECOUNT_S:  # nodes are added and lost
            self._processors = int(self._ray.cluster_resources().get("CPU", 0))
            self._counted_at = time.monotonic()
        limit = self._processors + _AHEAD if self._at_once is None else self._at_once
        return limit - len(self._numbers)

    def submit(self, number: int, task: dict[str, Any]) -> None:
        self._numbers[self._task.remote(task)] = number

    def wait(self, timeout_s: float) -> list[TaskAnswer]:
        if not self._numbers:
            time.sleep(timeout_s)  # no task runs, because the cluster has no processor yet
            return []
        ready, others = self._ray.wait([*self._numbers], num_returns=1, timeout=timeout_s)
        if ready and others:  # all other answers that have arrived: thousands of tasks may be running
            ready += self._ray.wait(others, num_returns=len(others), timeout=0)[0]
        return [self._answer(reference, self._numbers.pop(reference)) for reference in ready]

    def _answer(self, reference: Any, number: int) -> TaskAnswer:
        exceptions = self._ray.exceptions
        try:
            return answer_of(number, self._ray.get(reference))
        except exceptions.RayTaskError as error:
            if isinstance(error.cause, ImportError):
                refused = InputError(f"a node of the cluster cannot run tasks: {error.cause}")
                return TaskAnswer(number, refused=refused)
            return TaskAnswer(number, death=f"failed: {error.cause!r:.300}")
        except exceptions.OutOfMemoryError:
            return TaskAnswer(number, death="ended by Ray: its node ran out of memory")
        except (exceptions.NodeDiedError, exceptions.OwnerDiedError):
            return TaskAnswer(number, death="its node disappeared")
        except exceptions.WorkerCrashedError:
            return TaskAnswer(number, death="killed")
        except exceptions.RayError as error:
            return TaskAnswer(number, death=type(error).__name__)

    def close(self, *, kill: bool = False) -> None:
        for reference in self._numbers:
            self._ray.cancel(reference, force=True)
        self._numbers = {}
        if self._ours:
            self._ray.shutdown()
