"""Starts the cluster that a command starts for itself, and prints as JSON where its processes listen. Run as a
process: Ray is for once in a process."""

import json
import os
import socket
from pathlib import Path


def listening(pids: set[int]) -> list[str]:
    """Addresses of TCP sockets on which these processes listen."""
    held = set()
    for pid in pids:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            try:
                held.add(os.readlink(entry))
            except OSError:
                continue
    found = []
    for family, table in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in held:
                words = bytes.fromhex(fields[1].partition(":")[0])
                address = b"".join(words[n : n + 4][::-1] for n in range(0, len(words), 4))
                found.append(socket.inet_ntop(family, address))
    return found


def started() -> set[int]:
    """This process and all that it has started."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def main() -> None:
    from deskcheck.jobs.ray import RayCluster

    cluster = RayCluster("local")
    try:
        print(json.dumps(listening(started())))
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
