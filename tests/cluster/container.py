"""Becomes another command under a container's system call filter: that of a profile, or runtimes' usual one.

    python -m tests.cluster.container PROFILE.json|usual COMMAND...

A profile is what Docker and Kubernetes take (`seccomp.json`). The usual one is here in our words: what Docker's
and containerd's refuse to a container without the capability SYS_ADMIN, of what the sandbox would call. Not
imitated: AppArmor, hidden parts of /proc, and what a runtime calls itself after it has attached the filter.
"""

import errno
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from deskcheck.sandbox.linux import seccomp as _seccomp
from deskcheck.sandbox.linux.call_numbers import NUMBERS

_NEW_NAMESPACES = 0x7E020000
_PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)
_TO_SYS_ADMIN_ALONE = (
    "bpf fanotify_init fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree perf_event_open "
    "quotactl sethostname setdomainname setns syslog umount2 unshare"
).split()
_REFUSED_TO_ALL = (
    "pivot_root keyctl add_key request_key kexec_load init_module delete_module finit_module get_mempolicy "
    "set_mempolicy mbind swapon swapoff acct reboot open_by_handle_at"
).split()
USUAL = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        {
            "names": [*_TO_SYS_ADMIN_ALONE, *_REFUSED_TO_ALL],
            "action": "SCMP_ACT_ERRNO",
            "errnoRet": errno.EPERM,
        },
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS},
    ],
    "only": {
        "clone": [{"index": 0, "value": _NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}],
        "personality": [{"index": 0, "value": value, "op": "SCMP_CMP_EQ"} for value in _PERSONALITIES],
    },
}
"""only: calls that are allowed where one of these holds."""
_NUMBERS = NUMBERS | {
    "clone3": (435, 435), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27), "inotify_rm_watch": (255, 28),
    "memfd_create": (319, 279), "sendmmsg": (307, 269), "sync": (162, 81), "syncfs": (306, 267),
}  # fmt: skip


def compiled(profile: dict[str, Any]) -> bytes:
    """The filter of a profile, for this machine. Raises KeyError: it says what this does not know."""
    default = _action(profile["defaultAction"], profile.get("defaultErrnoRet", errno.EPERM))
    actions: dict[int, list[_seccomp._Instruction]] = {}
    conditions: dict[str, list[dict[str, int | str]]] = {
        name: [*one] for name, one in profile.get("only", {}).items()
    }
    for rule in profile["syscalls"]:
        for name in rule["names"]:
            if rule.get("args"):
                assert rule["action"] == "SCMP_ACT_ALLOW", rule
                conditions.setdefault(name, []).extend(rule["args"])
            elif (number := _number(name)) is not None:
                actions[number] = [_action(rule["action"], rule.get("errnoRet", errno.EPERM))]
    for name, wanted in conditions.items():
        number = _number(name)
        assert number is not None, name
        actions[number] = [
            *(step for condition in wanted for step in _allowed_if(condition)),
            _seccomp._fail(),
        ]
    leaves: list[tuple[int, list[_seccomp._Instruction]]] = []
    for number in range(max(actions) + 2):
        code = actions.get(number, [default])
        if not leaves or leaves[-1][1] != code:
            leaves.append((number, code))
    return _seccomp._packed([(_seccomp._LOAD, 0, 0, 0), *_seccomp._tree(leaves)])


def _number(name: str) -> int | None:
    return _NUMBERS[name][platform.machine() == "aarch64"]


def _action(word: str, number: int) -> _seccomp._Instruction:
    return {"SCMP_ACT_ALLOW": _seccomp._YES, "SCMP_ACT_ERRNO": _seccomp._fail(number)}[word]


def _allowed_if(condition: dict[str, Any]) -> list[_seccomp._Instruction]:
    """Allow the call where a condition on the low half of an argument holds; else go on."""
    load = _seccomp._argument(condition["index"])
    value = condition["value"]
    match condition["op"]:
        case "SCMP_CMP_EQ":
            return [load, *_seccomp._among(value)]
        case "SCMP_CMP_NE":
            return [load, (_seccomp._EQUAL, 1, 0, value), _seccomp._YES]
        case "SCMP_CMP_MASKED_EQ":
            return [load, (_seccomp._AND, 0, 0, value), *_seccomp._among(condition.get("valueTwo", 0))]
        case other:
            raise KeyError(other)


def main() -> None:
    name, *command = sys.argv[1:]
    profile = USUAL if name == "usual" else json.loads(Path(name).read_text())
    _seccomp.attach(compiled(profile))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
