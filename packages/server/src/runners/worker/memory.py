"""Memory: what the kernel killed for lack of it, and which unit has to go before it runs out."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

from .processes import own_table, session_and_descendants
from .units import Unit

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
ALMOST_ALL = 0.95
WATCH_SECONDS = 1.0


class OomKills:
    """Tells which units the kernel killed for lack of memory: each kill that it counts explains one unit."""

    def __init__(self) -> None:
        self._files = counter_files()
        self._before = read_counters(self._files)
        self._explained = 0

    def explain_one_more(self) -> bool:
        counts = read_counters(self._files)
        new = max((count - self._before.get(path, 0) for path, count in counts.items()), default=0)
        if new <= self._explained:
            return False
        self._explained += 1
        return True


class Mount(NamedTuple):
    """A line of /proc/self/mountinfo, as far as it is wanted."""

    root: str
    point: str
    kind: str
    options: list[str]  # of the file system


class ControlGroup(NamedTuple):
    folder: str
    counter: str  # the name of the file that counts, there and above


def counter_files() -> list[str]:
    """The files that count what the kernel killed for lack of memory where the worker runs, the closest first."""
    groups = memory_groups()
    found = [path for group in groups for path in with_job_above(*group) if os.path.exists(path)]
    return found or ["/proc/vmstat"]


def with_job_above(folder: str, name: str) -> Iterator[str]:
    """Slurm limits the job or its step (job_7/step_batch/task_0); above the job are the jobs of others."""
    yield os.path.join(folder, name)
    parts = folder.split("/")
    jobs = [index for index, part in enumerate(parts) if part.startswith("job_")]
    for end in range(len(parts) - 1, jobs[-1] if jobs else len(parts), -1):
        yield "/".join([*parts[:end], name])


def read_mount(line: str) -> Mount:
    """`36 35 98:0 /root /mount/point options - type source options`"""
    place, _, source = line.partition(" - ")
    _, _, _, root, point, *_ = place.split()
    kind, *_, options = source.split()  # a source may be empty
    return Mount(root, point, kind, options.split(","))


def memory_groups() -> list[ControlGroup]:
    found = []
    try:
        with open("/proc/self/cgroup") as groups, open("/proc/self/mountinfo") as mounts:
            mounted = [read_mount(line) for line in mounts]
            for line in groups:
                _, controllers, path = line.rstrip("\n").split(":", 2)
                if controllers and "memory" not in controllers.split(","):
                    continue
                is_second = controllers == ""
                for mount in mounted:
                    if mount.kind == "cgroup2" if is_second else mount.kind == "cgroup" and "memory" in mount.options:
                        folder = os.path.normpath(os.path.join(mount.point, os.path.relpath(path, mount.root)))
                        found.append(ControlGroup(folder, "memory.events" if is_second else "memory.oom_control"))
    except (OSError, ValueError):
        pass
    return found


def read_counters(files: list[str]) -> dict[str, int]:
    found = {}
    for path in files:
        try:
            with open(path) as file:
                for line in file:
                    if line.startswith("oom_kill "):
                        found[path] = int(line.split()[1])
        except (OSError, ValueError):
            pass
    return found


class MemoryWatch:
    """The units of a pack share the memory of a job: before it runs out, the one that took most has to go."""

    def __init__(self, bytes_per_unit: int | None, units: int) -> None:
        self._limit = bytes_per_unit or 0
        self._almost_all = ALMOST_ALL * units * self._limit
        self._next_look = 0.0

    def unit_to_end(self, units: list[Unit]) -> Unit | None:
        """The unit that holds most, if it holds more than it may and there is hardly any memory left."""
        began = time.monotonic()
        if not self._limit or began < self._next_look:
            return None
        unit = self._largest(units)
        # A look at many large processes may take long.
        self._next_look = began + max(WATCH_SECONDS, 20 * (time.monotonic() - began))
        return unit

    def _largest(self, units: list[Unit]) -> Unit | None:
        running = {unit.pid: unit for unit in units if unit.pid}
        if not running or any(unit.is_over_memory for unit in units):
            return None
        table = own_table()
        held = {pid: stat.resident_pages * PAGE_BYTES for pid, stat in table.items()}
        if sum(held.values()) <= self._almost_all:
            return None
        held = {pid: exact_memory(pid, size) for pid, size in held.items()}
        if sum(held.values()) <= self._almost_all:
            return None
        sizes = {pid: total(held, session_and_descendants(table, pid)) for pid in running}
        largest = max(sizes, key=lambda pid: sizes[pid])
        return running[largest] if sizes[largest] > self._limit else None


def total(held: dict[int, int], pids: Collection[int]) -> int:
    return sum(held[pid] for pid in pids)


def exact_memory(pid: int, otherwise: int) -> int:
    """Bytes, where what several processes share counts once. Slow for large processes."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return otherwise
