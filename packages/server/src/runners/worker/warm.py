"""The worker's end of the warm process (warm_program.py), which has imported and forks a process for each unit.

It is a child of the worker, or one that the warm parent of the environment forked (warm_parent.py): then the imports
are over already, and it ends with the batch all the same.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from typing import NamedTuple, Protocol, Union, cast

from .launcher import NO_INPUT, FileAction, Launcher, spawn
from .passing import connect_in, receive, send, socket_pair
from .processes import send_signal_to_group
from .surroundings import surroundings
from .unit_files import UnitFiles, write_file
from .units import Unit, UnitProblem


class Forked(NamedTuple):
    unit: Unit
    pid: int
    start_ticks: str


class Ended(NamedTuple):
    unit: Unit
    status: int
    cpu_seconds: float
    peak_memory_bytes: int


class NotStarted(NamedTuple):
    unit: Unit
    problem: str


class Gone(NamedTuple):
    """The warm process has ended, or has refused to serve."""

    why: str
    may_try_own: bool  # the reason is the warm parent's, not the script's


class OrphanEnded(NamedTuple):
    """A process whose parent was the warm process, which is gone."""

    pid: int
    status: int
    cpu_seconds: float
    peak_memory_bytes: int


Message = Union[Forked, Ended, NotStarted, Gone]


class WarmProcess:
    def __init__(self, files: UnitFiles, orders: socket.socket, pid: int | None = None) -> None:
        self.is_ready = False  # it has imported
        self.is_borrowed = pid is None  # from the warm parent: it is no child of the worker
        self.is_reaper = False  # what units leave behind is below it
        self.pid = pid  # unknown until it is ready
        self.units: dict[int, Unit] = {}  # by number: ordered, and not known to have ended
        self._files = files
        self._socket = orders
        self._socket.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    def order(self, unit: Unit) -> bool:
        """False when the unit has to be started in another way."""
        cpus = ",".join(map(str, unit.cpus or ()))
        words = [str(unit.number), cpus, self._files.log(unit), *self._files.command_line(unit)]
        try:
            self._socket.send("\0".join(words).encode("utf-8", "surrogateescape"))
        except OSError:
            return False
        self.units[unit.number] = unit
        return True

    def messages(self) -> Iterator[Message]:
        """What has been said so far; nothing comes after `Gone`."""
        while True:
            try:
                kind, *rest = receive(self._socket).words or ["ended", "it ended"]
                message = self._read(kind, rest)
            except BlockingIOError:
                return
            except (ValueError, KeyError):  # whoever said that is not what it should be
                message = Gone("it said something that makes no sense", may_try_own=False)
            if message:
                yield message
            if isinstance(message, Gone):
                return

    def _read(self, kind: str, rest: list[str]) -> Message | None:
        if kind == "ready":
            pid, _, is_reaper = rest
            self.is_ready, self.pid, self.is_reaper = True, process_number(pid), is_reaper == "1"
            return None
        if kind == "pid":
            number, pid, start_ticks = rest
            return Forked(self.units[int(number)], process_number(pid), start_ticks)
        if kind == "end":
            number, status, cpu_seconds, peak_memory_kib = rest
            outcome = (int(status), float(cpu_seconds), int(peak_memory_kib) * 1024)
            return Ended(self.units.pop(int(number)), *outcome)
        if kind == "problem":
            number, problem = rest
            return NotStarted(self.units.pop(int(number)), problem)
        may_try_own = self.is_borrowed and not self.is_ready and kind != "refused"
        return Gone(rest[0] if rest else "it ended", may_try_own)

    def close(self) -> None:
        self._socket.close()
        if self.pid is not None:
            send_signal_to_group(self.pid, signal.SIGKILL)


def start_warm_process(launcher: Launcher, files: UnitFiles, first: Unit, paths: str) -> WarmProcess:
    """A child of the worker, which imports for this batch."""
    launcher.prepare_folders()
    if not can_be_warm(launcher.command):
        raise UnitProblem("the command is not a Python interpreter and a script")
    ours, theirs = socket_pair()
    printed, program = f"{paths}.txt", f"{paths}.py"
    try:
        theirs.set_inheritable(True)
        actions: list[FileAction] = [
            NO_INPUT,
            (os.POSIX_SPAWN_OPEN, 1, printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        write_file(program, warm_program())
        argv = [launcher.command[0], program, str(theirs.fileno()), printed, *launcher.command]
        argv += files.command_line(first)
        pid = spawn(launcher.find_program(), argv, launcher.environment, actions)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return WarmProcess(files, ours, pid)


class WarmParentLink:
    """The connection to the warm parent, which lasts as long as the batch."""

    def __init__(self, folder: str) -> None:
        """Raises OSError where there is none."""
        self._connection = connect_in(folder)

    def fileno(self) -> int:
        return self._connection.fileno()

    def borrow(self, launcher: Launcher, files: UnitFiles) -> WarmProcess | None:
        launcher.prepare_folders()
        if not can_be_warm(launcher.command):
            return None
        ours, theirs = socket_pair()
        with theirs:
            words = ("batch", surroundings(launcher, warm_program()), launcher.command[1])
            if send(self._connection, *words, descriptor=theirs.fileno()):
                return WarmProcess(files, ours)
        ours.close()
        return None

    def messages(self) -> Iterator[OrphanEnded | None]:
        """How processes ended that it has inherited; None, and nothing more, when it is gone."""
        while True:
            try:
                _, pid, status, cpu_seconds, peak_memory_kib = receive(self._connection).words
                yield OrphanEnded(int(pid), int(status), float(cpu_seconds), int(peak_memory_kib) * 1024)
            except BlockingIOError:
                return
            except ValueError:  # the end of the connection, or nothing that a warm parent says
                yield None
                return

    def close(self) -> None:
        self._connection.close()


def process_number(text: str) -> int:
    """Signals to smaller ones would go to many."""
    pid = int(text)
    if pid < 2:
        raise ValueError(text)
    return pid


def can_be_warm(command: list[str]) -> bool:
    if len(command) != 2 or not os.path.basename(command[0]).startswith(("python", "pypy")):
        return False
    script = command[1]
    return script.startswith("/") and script.endswith(".py") and os.path.isfile(script) and os.access(script, os.R_OK)


class FileLoader(Protocol):
    """What loads modules from a folder, and what loads them from a zip."""

    def get_data(self, path: str) -> bytes: ...


def warm_program() -> bytes:
    loader = cast(FileLoader, __spec__.loader)
    folder = os.path.dirname(__file__)
    return b"\n\n".join(loader.get_data(os.path.join(folder, part)) for part in ("warm_program.py", "warm_serving.py"))
