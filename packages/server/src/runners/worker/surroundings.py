"""What a process gets from whoever starts it, as a text: a unit must find the same, whoever it was forked from."""

from __future__ import annotations

import hashlib
import os

from .launcher import Launcher


def surroundings(launcher: Launcher, program: bytes) -> str:
    """With the program that forks them: that of another version of the service is not asked."""
    parts = [
        sorted(launcher.environment.items()),
        launcher.command[0],
        launcher.working_folder,
        program,
        (os.getresuid(), os.getresgid(), sorted(os.getgroups())),
        (limits(), umask(), os.nice(0), sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0)),
        [read(f"/proc/self/{name}") for name in ("cgroup", "oom_score_adj")],
        [link(f"/proc/self/{name}") for name in ("ns/mnt", "ns/net", "ns/user", "root")],
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def limits() -> list[object]:
    try:
        import resource
    except ImportError:
        return []
    names = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
    return [(name, resource.getrlimit(getattr(resource, name))) for name in names]


def umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
