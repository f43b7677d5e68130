"""The file system that programs see at `strict`, made once for each server in its mount namespace.

It has only the requested paths, in their usual places and read-only, the harmless devices, `/proc` of the
new process namespace, and a small writable file system in memory. Standard library only.
"""

import errno
import os
from collections.abc import Iterable, Mapping, Sequence

from deskcheck.sandbox.linux import kernel

SCRATCH = "/scratch"
"""Mount point of the writable file system."""
SCRATCH_MODE = 0o711
SHARED_MEMORY = "shm"
"""The target of /dev/shm, next to the folder that programs begin in. So shared memory and POSIX semaphores
are files of the writable file system."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_LINKS = {"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1"}
_LINKS |= {"/dev/stderr": "/proc/self/fd/2"}
_READ_ONLY = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID


def outermost(paths: Iterable[str]) -> list[str]:
    """The absolute paths, sorted, without those below another one."""
    outer: dict[str, None] = {}
    for path in sorted(set(paths)):  # a folder comes before what lies in it
        parts = path.rstrip("/").split("/")
        above = ("/".join(parts[:count]) or "/" for count in range(1, len(parts)))
        if not any(folder in outer for folder in above):
            outer[path] = None
    return list(outer)


def build(
    readable: Sequence[str],
    folder: str,
    size_bytes: int,
    files: Mapping[str, str],
    *,
    own_tmp: bool,
    links: Sequence[str] = (),
    program: str = f"{SCRATCH}/program",
) -> bool:
    """Make a root of these paths on `folder` and enter it; return whether /proc is in it.

    The caller is in a new mount namespace and, for /proc, in a new process namespace. Raises OSError.

    Args:
        size_bytes: the size of the writable file system.
        files: texts of files to add where they are missing, by path.
        own_tmp: make /tmp writable too if it contains a readable path.
        links: links to copy.
        program: the folder that programs begin in, on the writable file system. /tmp leads to it.
    """
    _keep_mounts_here(folder)
    kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=1m,mode=755")
    os.umask(0o022)
    paths = outermost(os.path.abspath(path) for path in readable)
    if own_tmp and any(path.startswith("/tmp/") for path in paths):
        os.mkdir(folder + "/tmp")
        options = f"size={size_bytes},mode=1777"
        kernel.mount("tmpfs", folder + "/tmp", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for path in paths:
        _show(path, folder)
    for link in links:
        if not os.path.lexists(folder + link):
            os.makedirs(os.path.dirname(folder + link), exist_ok=True)
            os.symlink(os.readlink(link), folder + link)
    for device in _DEVICES:
        _show(device, folder, device=True)
    for link, target in _LINKS.items():
        os.symlink(target, folder + link)
    for name, text in files.items():
        if not os.path.lexists(folder + name):
            os.makedirs(os.path.dirname(folder + name), exist_ok=True)
            with open(folder + name, "x") as stream:
                stream.write(text)
    scratch = os.path.dirname(program)
    os.symlink(f"{scratch}/{SHARED_MEMORY}", folder + "/dev/shm")
    os.makedirs(folder + scratch)
    most_files = max(256, min(size_bytes // 4096, 1 << 14))
    options = f"size={size_bytes},nr_inodes={most_files},mode={SCRATCH_MODE:o}"
    kernel.mount("tmpfs", folder + scratch, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    if not os.path.lexists(folder + "/tmp"):
        os.symlink(program.lstrip("/"), folder + "/tmp")
    os.mkdir(folder + "/proc")
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    try:
        kernel.mount("proc", folder + "/proc", "proc", flags)
    except PermissionError:  # in a container whose own /proc is partly hidden
        has_proc = False
    else:
        has_proc = True
    kernel.enter_root(folder)
    kernel.restrict_mount("/", kernel.MOUNT_ATTR_RDONLY, recursive=False)
    return has_proc


def _keep_mounts_here(folder: str) -> None:
    """Make later mounts visible only in this mount namespace. folder: any folder but the root.

    The kernel takes that setting for a mount point only, and a root made by `chroot` may not be one. In that
    case, go to the namespace's own root, mount the folder over itself there, and enter it. Everything around
    it disappears from the namespace.
    """
    try:
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        return
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    ours = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.chroot(folder)
        os.fchdir(ours)  # outside of that root: nothing stops the way up
        while not os.path.samestat(os.stat("."), os.stat("..")):
            os.chdir("..")
        os.chroot(".")
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        os.fchdir(ours)
        kernel.mount(".", ".", None, kernel.MS_BIND | kernel.MS_REC)
        kernel.enter_root(os.getcwd())
    finally:
        os.close(ours)


def _show(path: str, root: str, *, device: bool = False) -> None:
    """Bind a path under the new root if it exists. A link is copied and its target bound."""
    if not os.path.lexists(path):
        return
    target_path = root + path
    if os.path.islink(path):
        os.makedirs(os.path.dirname(target_path), exist_ok=True)
        os.symlink(os.readlink(path), target_path)
        target = os.path.realpath(path)
        if not os.path.lexists(root + target):
            _show(target, root, device=device)
        return
    if os.path.isdir(path):
        os.makedirs(target_path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target_path), exist_ok=True)
        if not os.path.lexists(target_path):
            os.close(os.open(target_path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kernel.mount(path, target_path, None, kernel.MS_BIND | kernel.MS_REC)
    attributes = kernel.MOUNT_ATTR_NOSUID if device else _READ_ONLY | kernel.MOUNT_ATTR_NODEV
    kernel.restrict_mount(target_path, attributes, recursive=True)
