"""The units of a batch: read a line at a time, since there may be a hundred thousand, and what is known of each."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Callable


class UnitProblem(Exception):
    """A unit that cannot be started; the text is for the user."""


def error_text(error: OSError) -> str:
    return error.strerror or str(error)


class Unit:
    # fmt: off
    __slots__ = (
        "args", "cpus", "gone_at", "is_adopted", "is_elsewhere", "is_over_memory", "is_stopped", "number", "pid",
        "start_ticks", "stem",
    )
    # fmt: on

    def __init__(self, number: int, stem: str, args: str) -> None:
        self.number, self.stem = number, stem
        self.args = args  # the text of the file with its arguments
        self.pid: int | None = None
        self.start_ticks = ""
        self.cpus: list[int] | None = None
        self.is_stopped = False
        self.is_over_memory = False
        self.is_adopted = False  # its parent, the warm process, is gone
        self.is_elsewhere = False  # it has become a child of the warm parent, not of the worker
        self.gone_at: float | None = None  # since when a unit that is elsewhere is not to be seen


def unit_lines(path: str, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
    with open(path, "rb") as file:
        file.seek(begin)
        for line in file:
            if end is not None and begin >= end:
                return
            begin += len(line)
            if line.strip():
                yield line


def read_units(lines: Iterator[bytes]) -> Iterator[Unit]:
    for line in lines:
        unit = json.loads(line)
        yield Unit(unit["number"], unit["stem"], unit["args"])


class UnitQueue:
    """The units that are to be started, in order."""

    def __init__(self, lines: Callable[[], Iterator[bytes]], total: int, started: Collection[int]) -> None:
        self.left = total - len(started)
        self._units = (unit for unit in read_units(lines()) if unit.number not in started)
        self._next = next(self._units, None)

    @property
    def next(self) -> Unit | None:
        return self._next

    def take(self) -> Unit:
        unit = self._next
        assert unit is not None
        self._next = next(self._units, None)
        self.left -= 1
        return unit
