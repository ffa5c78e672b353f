"""Starts the processes of units: the same command for all, with its environment and in its folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any, Union

from .assignment import Batch
from .unit_files import UnitFiles
from .units import Unit, UnitProblem, error_text

DEFAULT_SIGNALS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
NO_INPUT = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)

# What posix_spawn does with descriptors: one of os.POSIX_SPAWN_OPEN, CLOSE and DUP2 with its arguments.
FileAction = Union[tuple[int, int, str, int, int], tuple[int, int, int]]


class Launcher:
    def __init__(self, batch: Batch, files: UnitFiles, cpus_per_unit: int) -> None:
        self.command = batch.command
        self.environment = original_environment()
        for name, value in batch.environment.items():
            self.environment[os.fsencode(name)] = os.fsencode(value)
        if cpus_per_unit:
            self.environment[b"SLURM_CPUS_PER_TASK"] = b"%d" % cpus_per_unit
        self._files = files
        self.working_folder = batch.working_folder
        self._has_folders = False
        self._program: str | None = None

    def prepare_folders(self) -> None:
        if self._has_folders:
            return
        folder = self._files.folder
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise UnitProblem(f"Cannot create the folder {folder}: {error_text(error)}.") from error
        try:
            os.chdir(self.working_folder)
        except OSError as error:
            raise UnitProblem(f"Cannot enter the folder {self.working_folder}: {error_text(error)}.") from error
        self._has_folders = True

    def find_program(self) -> str:
        if self._program is None:
            self._program = find_program(self.command[0], self.environment)
        if self._program is None:
            raise UnitProblem(f"Cannot start {self.command[0]}: there is no such program, or it is not executable.")
        return self._program

    def start(self, unit: Unit, log: int) -> int:
        """The process of the unit."""
        program = self.find_program()
        actions: list[FileAction] = [NO_INPUT, (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
        try:
            return spawn(program, [*self.command, *self._files.command_line(unit)], self.environment, actions)
        except OSError as error:
            self._program = None
            raise UnitProblem(f"Cannot start {program}: {error_text(error)}.") from error


def original_environment() -> dict[bytes, bytes]:
    """As the worker was started: Python itself may have changed LC_CTYPE since."""
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if b"=" in pair[1:]]
            return {name: value for name, _, value in pairs if name}
    except OSError:
        return dict(os.environb)


def find_program(name: str, environment: Mapping[bytes, bytes]) -> str | None:
    if "/" in name:
        candidates = [name]
    else:
        path = os.fsdecode(environment.get(b"PATH", os.fsencode(os.defpath)))
        candidates = [os.path.join(folder or ".", name) for folder in path.split(os.pathsep)]
    for candidate in candidates:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def spawn(program: str, argv: list[str], environment: Mapping[bytes, bytes], actions: list[FileAction]) -> int:
    """In a session of its own, or at least a group."""
    options: dict[str, Any] = {"file_actions": actions, "setsigmask": [], "setsigdef": DEFAULT_SIGNALS}
    try:
        return os.posix_spawn(program, argv, environment, setsid=True, **options)
    except NotImplementedError:  # C libraries before 2018
        return os.posix_spawn(program, argv, environment, setpgroup=0, **options)
