"""A job on a Ray cluster of two nodes on this machine, in a process of its own: `python -m tests.jobs.on_ray FOLDER COUNT`.
With `--lose`, a node goes away without a word when the first shard is whole, or so many seconds after the job began, and
another comes; with `--killer` one of the programs kills its worker; with `--attackers` programs that attack whoever
reads what they say are among them, in the sandbox. Prints the summary as JSON."""

import argparse
import contextlib
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from deskcheck.recorder.job import record_job
from tests.jobs.jobs import OPEN, STRICT, attackers, killer, sums


def main(folder: Path, count: int, *, lose: bool, after_s: float | None, kill: bool, attack: bool) -> None:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    from deskcheck.jobs.ray import RayCluster

    # On loopback alone; what is called 127.0.0.1 Ray takes for the machine's address.
    node = {"num_cpus": 1, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.2"}

    def begun() -> tuple[Cluster, Any]:
        """A cluster and its second node, each of which Ray gives 30 seconds to start, also on a busy machine."""
        for more in (2, 1, 0):
            cluster = None
            try:
                cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
                return cluster, cluster.add_node(**node)
            except (TypeError, AttributeError, ValueError):  # of a call, not of a machine
                raise
            except Exception as error:  # Ray has no class of its own for it
                if cluster is not None:
                    cluster.shutdown()
                if not more:
                    raise SystemExit(f"Ray could not be started on this machine: {error}") from error
        raise AssertionError("unreachable")

    cluster, second = begun()
    try:
        ray.init(address=cluster.address, _node_ip_address="127.0.0.2", log_to_driver=False)
        runner = RayCluster()

        def change_nodes() -> None:
            if after_s is not None:
                time.sleep(after_s)
            while after_s is None and not any(folder.glob("recordings-*.parquet")):
                time.sleep(0.05)
            cluster.remove_node(second, allow_graceful=False)
            with contextlib.suppress(TimeoutError):  # it comes later
                cluster.add_node(**node)

        thread = threading.Thread(target=change_nodes, daemon=True)
        if lose:
            thread.start()
        programs = [*sums(count)]
        if kill:
            programs += [killer("is killed", signal.SIGKILL), *sums(5, count)]
        if attack:
            programs += attackers()
        summary = record_job(programs, folder, runner=runner, settings=STRICT if attack else OPEN, size=10)
        if lose:
            thread.join(60)
        print(json.dumps(summary.to_dict()))
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--lose", nargs="?", type=float, const=-1.0, metavar="SECONDS")
    parser.add_argument("--killer", action="store_true")
    parser.add_argument("--attackers", action="store_true")
    given = parser.parse_args()
    main(
        given.folder,
        given.count,
        lose=given.lose is not None,
        after_s=None if given.lose is None or given.lose < 0 else given.lose,
        kill=given.killer,
        attack=given.attackers,
    )
