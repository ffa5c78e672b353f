"""What an earlier worker with the same journal left: units that it started, and processes that may still run."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Collection
from typing import NamedTuple

from .processes import boot_id, descendants, process_table, send_signal, writers

LOOK_SECONDS = 0.05


class KnownProcess(NamedTuple):
    pid: int
    start_ticks: str
    boot: str | None


class EarlierWorkers:
    """What the journal tells about them."""

    def __init__(self, journal: str) -> None:
        self.started: set[int] = set()
        self.open: dict[int, KnownProcess | None] = {}  # units that started and have not ended
        self.have_finished = False
        self.is_torn = False  # the last line has no end
        self._boot: str | None = None
        try:
            with open(journal, "rb") as file:
                for line in file:
                    self.is_torn = not line.endswith(b"\n")
                    self._take(line)
        except FileNotFoundError:
            pass

    def _take(self, line: bytes) -> None:
        try:
            record = json.loads(line)
        except ValueError:
            return
        if "end" in record:
            self.open.pop(record["end"], None)
        elif "start" in record:
            self.started.add(record["start"])
            self.open[record["start"]] = None
        elif "running" in record and record["running"] in self.open:
            self.open[record["running"]] = KnownProcess(record["pid"], record["started"], self._boot)
        elif "worker" in record:
            self._boot = record["boot"]
        elif "finished" in record:
            self.have_finished = True


def end_processes_of(earlier: EarlierWorkers, logs: Collection[str], grace: float, give_up: float) -> None:
    """Ends what still runs of the units that were left open. They are not our children: watch /proc."""
    boot = boot_id()
    known = {process.pid: process.start_ticks for process in earlier.open.values() if process and process.boot == boot}
    began = time.monotonic()
    was_told = False
    while time.monotonic() < began + grace + give_up:
        table = process_table()
        alive = {pid for pid, start_ticks in known.items() if pid in table and table[pid].start_ticks == start_ticks}
        alive |= {pid for pid, stat in table.items() if stat.group in alive or stat.session in alive}
        alive |= {pid for found in writers(table, logs).values() for pid in found}
        alive |= descendants(table, alive)
        alive = {pid for pid in alive if not table[pid].has_ended}
        if not alive:
            return
        # Whoever is seen once is watched to its end, also after its parent is gone.
        known.update({pid: table[pid].start_ticks for pid in alive})
        if not was_told:
            was_told = True
            send_signal(alive, signal.SIGTERM)
        elif time.monotonic() >= began + grace:
            send_signal(alive, signal.SIGKILL)
        time.sleep(LOOK_SECONDS)
