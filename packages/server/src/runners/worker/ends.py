"""How units end: what is written about it in the journal, and whether it was their own doing."""

from __future__ import annotations

import os
import signal
import time
from typing import NamedTuple

from .assignment import Assignment
from .journal import Journal
from .memory import OomKills
from .processes import ended_by
from .unit_files import NO_OUTPUT, UnitFiles, read_log, read_output
from .units import Unit

HOLD_SECONDS = 0.5  # in which a signal reaches all processes of a job


class Exit(NamedTuple):
    """What the system tells about a process that has ended."""

    status: int
    cpu_seconds: float
    peak_memory_bytes: int
    time: float  # seconds since 1970


class Held(NamedTuple):
    until: float
    unit: Unit
    exit: Exit


class UnitEnds:
    def __init__(self, assignment: Assignment, files: UnitFiles, journal: Journal) -> None:
        self._assignment, self._files, self._journal = assignment, files, journal
        self._oom_kills = OomKills()
        self._held: list[Held] = []  # ended, perhaps by a signal that is still on its way to the worker

    @property
    def are_held(self) -> bool:
        return bool(self._held)

    def process_ended(self, unit: Unit, exit: Exit, is_stop_wanted: bool) -> None:
        """A scheduler's signal to stop goes to all processes of a job, and may end a unit before the worker."""
        if self._assignment.is_pack:
            if not is_stop_wanted and ended_by(exit.status, signal.SIGTERM):
                self._held.append(Held(time.monotonic() + HOLD_SECONDS, unit, exit))
                return
            if is_stop_wanted and exit.status != 0 and not unit.is_over_memory:
                unit.is_stopped = True
        self.write(unit, exit)

    def settle_held(self, is_stop_wanted: bool) -> None:
        while self._held and (is_stop_wanted or self._held[0].until <= time.monotonic()):
            held = self._held.pop(0)
            held.unit.is_stopped = is_stop_wanted
            self.write(held.unit, held.exit)

    def write(self, unit: Unit, exit: Exit | None = None, problem: str | None = None, lost: bool = False) -> None:
        """Without an exit, the unit did not start, or nobody knows how it ended (`lost`)."""
        exit_code = killer = None
        if exit is not None:
            if os.WIFSIGNALED(exit.status):
                killer = os.WTERMSIG(exit.status)
            else:
                exit_code = os.WEXITSTATUS(exit.status)
        has_failed = exit_code != 0
        record: dict[str, object] = {
            "end": unit.number,
            "time": exit.time if exit else time.time(),
            "exit_code": exit_code,
            "signal": killer,
            "cpu_seconds": round(exit.cpu_seconds, 6) if exit else 0.0,
            "peak_memory_bytes": exit.peak_memory_bytes if exit else None,
            "out_of_memory": killer == signal.SIGKILL and not unit.is_stopped and self._was_out_of_memory(unit),
            **NO_OUTPUT,
            "problem": problem,
            "stopped": unit.is_stopped,
            "lost": lost,
            **read_log(self._files.log(unit), has_failed, self._assignment.longest_log),
        }
        if self._assignment.is_pack:
            record["memory_limit_bytes"] = self._assignment.memory_per_unit
        if not has_failed:
            record.update(read_output(self._files.output(unit), self._assignment.batch.largest_output))
        self._journal.add(record)

    def _was_out_of_memory(self, unit: Unit) -> bool:
        return unit.is_over_memory or self._oom_kills.explain_one_more()
