"""Processes of this machine: who is whose child, who runs, who writes where.

Linux tells it in /proc. Other systems, such as macOS, are asked by `ps`; they do not tell who writes where.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable
from typing import NamedTuple

HAS_PROC = os.path.exists("/proc/self/stat")
MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024  # what getrusage counts in

# As proc(5) names what follows the name of the program in /proc/<pid>/stat, up to what is wanted here.
# fmt: off
STAT_FIELDS = (
    'state', 'ppid', 'pgrp', 'session', 'tty_nr', 'tpgid', 'flags', 'minflt', 'cminflt', 'majflt', 'cmajflt', 'utime',
    'stime', 'cutime', 'cstime', 'priority', 'nice', 'num_threads', 'itrealvalue', 'starttime', 'vsize', 'rss',
)
# fmt: on


class ProcessStat(NamedTuple):
    state: str
    parent: int
    group: int
    session: int
    start_ticks: str  # in digits, when it began, as the system counts; with the pid it names a process for good
    resident_pages: int

    @property
    def has_ended(self) -> bool:
        return self.state in ("Z", "X")


ProcessTable = dict[int, ProcessStat]


def process_stat(pid: int) -> ProcessStat | None:
    """None when there is no such process."""
    if not HAS_PROC:
        return table_by_ps("-p", str(pid)).get(pid)
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(descriptor, 4096)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # the name of the program, in parentheses, may hold anything
    values = text[text.rindex(b")") + 2 :].decode("ascii").split()
    stat = dict(zip(STAT_FIELDS, values))
    return ProcessStat(
        state=stat["state"],
        parent=int(stat["ppid"]),
        group=int(stat["pgrp"]),
        session=int(stat["session"]),
        start_ticks=stat["starttime"],
        resident_pages=int(stat["rss"]),
    )


PS_COLUMNS = ("pid", "ppid", "pgid", "rss", "stat", "lstart")


def table_by_ps(*which: str) -> ProcessTable:
    """As `ps` prints it: `4711 1 4711 20480 Ss Tue Nov 17 04:35:21 2026`."""
    import subprocess

    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    # With its own number: it is a child of the worker, and over when it is read.
    columns = [word for name in PS_COLUMNS for word in ("-o", f"{name}=")]
    with subprocess.Popen(["ps", *which, *columns], stdout=subprocess.PIPE, env=environment) as ps:
        printed = ps.communicate()[0].decode("utf-8", "replace")
    stats = (stat_of_line(line.split()) for line in printed.splitlines())
    return {pid: stat for pid, stat in stats if pid != ps.pid}


def stat_of_line(words: list[str]) -> tuple[int, ProcessStat]:
    import calendar
    import time

    pid, parent, group, resident_kib = map(int, words[:4])
    began = calendar.timegm(time.strptime(" ".join(words[5:10]), "%a %b %d %H:%M:%S %Y"))
    try:
        session = os.getsid(pid)
    except OSError:  # it is gone, or the system does not tell
        session = 0
    pages = resident_kib * 1024 // os.sysconf("SC_PAGE_SIZE")
    return pid, ProcessStat(words[4][0], parent, group, session, str(began), pages)


def start_ticks_of(pid: int) -> str:
    """Empty when there is no such process."""
    stat = process_stat(pid)
    return stat.start_ticks if stat else ""


def is_alive(pid: int, start_ticks: str) -> bool:
    stat = process_stat(pid)
    return stat is not None and stat.start_ticks == start_ticks and not stat.has_ended


def boot_id() -> str:
    if not HAS_PROC:
        return boot_id_by_sysctl()
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def boot_id_by_sysctl() -> str:
    import subprocess

    try:
        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.check_output(command, stderr=subprocess.DEVNULL).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def process_table() -> ProcessTable:
    if not HAS_PROC:
        return table_by_ps("-A")
    found = ((int(name), process_stat(int(name))) for name in os.listdir("/proc") if name.isdigit())
    return {pid: stat for pid, stat in found if stat is not None}


def own_table() -> ProcessTable:
    """The worker and everything below it."""
    return table_below(os.getpid())


def table_below(root: int) -> ProcessTable:
    """A process and everything below it. All processes of a large machine would be too much every second."""
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        table = process_table()
        mine = descendants(table, [root]) | {root}
        return {pid: table[pid] for pid in mine if pid in table}
    table, pending = {}, [root]
    while pending:
        pid = pending.pop()
        stat = process_stat(pid)
        if stat is not None and pid not in table:
            table[pid] = stat
            pending += _children_of(pid)
    return table


def _children_of(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(child) for child in file.read().split()]
    except OSError:  # it ended meanwhile
        pass
    return found


def descendants(table: ProcessTable, roots: Iterable[int]) -> set[int]:
    """The processes below `roots`, without them."""
    children: dict[int, list[int]] = {}
    for pid, stat in table.items():
        children.setdefault(stat.parent, []).append(pid)
    roots = list(roots)
    found: set[int] = set()
    pending = list(roots)
    while pending:
        for pid in children.get(pending.pop(), ()):
            if pid not in found:
                found.add(pid)
                pending.append(pid)
    return found - set(roots)


def session_and_descendants(table: ProcessTable, leader: int) -> set[int]:
    """All processes that a process in a session of its own has begun, as far as they can be told."""
    return {pid for pid, stat in table.items() if stat.session == leader} | descendants(table, [leader])


def writers(table: ProcessTable, logs: Collection[str]) -> dict[str, list[int]]:
    """{log: pids} of the processes whose standard output or error is one of `logs`."""
    found: dict[str, list[int]] = {}
    for pid in table:
        for name in ("1", "2"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target in logs and pid != os.getpid():
                found.setdefault(target, []).append(pid)
                break
    return found


def ended_by(status: int, number: int) -> bool:
    """By the signal, or as shells and containers tell that it ended what they ran."""
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == number
    return os.WEXITSTATUS(status) == 128 + number


def send_signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def send_signal_to_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except OSError:
        pass


def reap_quietly() -> bool:
    """Takes the outcome of children that have ended; false when there are no children."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    except ChildProcessError:
        return False


def become_subreaper() -> bool:
    """Processes that lose their parent become children of the worker, so none gets out of sight."""
    try:
        import ctypes

        PR_SET_CHILD_SUBREAPER = 36
        return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except Exception:  # a Python without ctypes, or another system
        return False


def keep_descriptors_from_children() -> None:
    """What the worker was started with is not for its units."""
    # Elsewhere nobody has many when it starts.
    descriptors = map(int, os.listdir("/proc/self/fd")) if HAS_PROC else range(1024)
    for descriptor in descriptors:
        if descriptor > 2:
            try:
                os.set_inheritable(descriptor, False)
            except OSError:  # the listing's own, or none
                pass
