"""The worker itself: starts units while there is a slot for them, takes their outcome, and stops when it is told to."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

from .assignment import Assignment
from .claim import ClaimWatch
from .control import ControlFile
from .cpus import CpuShares
from .ends import Exit, UnitEnds
from .journal import Journal
from .launcher import Launcher
from .memory import MemoryWatch
from .processes import (
    HAS_PROC,
    MAXRSS_BYTES,
    ProcessStat,
    become_subreaper,
    descendants,
    own_table,
    process_stat,
    process_table,
    reap_quietly,
    send_signal,
    send_signal_to_group,
    session_and_descendants,
    start_ticks_of,
    table_below,
    writers,
)
from .recovery import EarlierWorkers
from .signals import Signals
from .streams import end_of_stream
from .unit_files import UnitFiles, remove_file
from .units import Unit, UnitProblem, UnitQueue

if TYPE_CHECKING:
    from .warm import Message, OrphanEnded, WarmParentLink, WarmProcess

LOOK_SECONDS = 1.0
LOOK_WHILE_ENDING_SECONDS = 0.1
STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
TOGETHER_SECONDS = 0.005  # records that come thick are written together
NEWS_SECONDS = 2.0  # in which the warm parent tells how a process ended


class Worker:
    def __init__(self, assignment: Assignment, earlier: EarlierWorkers) -> None:
        batch = assignment.batch
        self.assignment = assignment
        self.files = UnitFiles(batch.folder)
        self.journal = Journal(assignment.journal, earlier.is_torn, is_durable=assignment.is_pack)
        self.ends = UnitEnds(assignment, self.files, self.journal)
        self.launcher = Launcher(batch, self.files, assignment.cpus_per_unit)
        self.queue = UnitQueue(assignment.unit_lines, assignment.total, earlier.started)
        self.cpus = CpuShares(assignment.slots or 0, assignment.cpus_per_unit)
        self.memory = MemoryWatch(assignment.memory_per_unit, assignment.slots or 0)
        self.control = ControlFile(assignment.control) if assignment.control else None
        self.claim = ClaimWatch(assignment.claim)

        self.slots: int | None = None  # how many units may run at a time
        self.order: int | None = None  # the number of the order that says so
        self.announced: list[Unit] = []  # have a start record that may not be on disk yet
        self.children: dict[int, Unit] = {}  # by pid
        self.warm: WarmProcess | None = None  # the parent of other units
        self.warm_parent: WarmParentLink | None = None  # which the warm process is borrowed from
        self.may_be_warm = batch.warm and HAS_PROC  # what imports leave open can't be told otherwise
        self.is_stopping = False
        self.kill_at: float | None = None

        self.is_subreaper = become_subreaper()
        self.signals = Signals()

    @property
    def running(self) -> list[Unit]:
        return [*self.children.values(), *(self.warm.units.values() if self.warm else ())]

    @property
    def used_slots(self) -> int:
        return len(self.children) + (len(self.warm.units) if self.warm else 0) + len(self.announced)

    def run(self) -> None:
        while True:
            self.take_orders()
            self.take_warm_messages()
            self.take_outcomes()
            self.ends.settle_held(self.signals.stop)
            if self.is_stopping:
                if self.go_on_stopping():
                    break
            else:
                # Whoever might have been stopped is waited for: what starts now would begin in vain.
                if not self.ends.are_held:
                    self.start()
                if self.queue.next is None and not self.used_slots and not self.ends.are_held:
                    break
                self.end_unit_over_memory()
            if not self.is_stopping or self.kill_at is not None:
                self.wait(LOOK_WHILE_ENDING_SECONDS if self.is_stopping else LOOK_SECONDS)
        self.leave()

    def wait(self, longest: float) -> None:
        """Until something happens."""
        if self.journal.wants_flush:
            self.journal.flush()
        if self.ends.are_held:
            longest = min(longest, LOOK_WHILE_ENDING_SECONDS)
        readers = [self.signals.wakeup, *(one.fileno() for one in (self.warm, self.warm_parent) if one)]
        ready = select.select(readers, [], [], TOGETHER_SECONDS if self.journal.has_lines else longest)[0]
        if self.signals.wakeup in ready:
            self.signals.clear()
        if not ready and self.journal.has_lines:
            self.journal.flush()

    # What the worker may do now

    def take_orders(self) -> None:
        if self.control:
            if self.signals.look:
                self.signals.look = False
                self.control.look_again()
            control = self.control.read_if_changed()
            if control:
                self.signals.stop = self.signals.stop or control.stop
                self.grant(control.slots, control.order)
        else:
            self.grant(self.assignment.slots, None)
        self.claim.look()
        if self.signals.stop and not self.is_stopping:
            self.is_stopping = True
            self.journal.add({"stopping": True})

    def grant(self, slots: int | None, order: int | None) -> None:
        """An order is answered also when it changes nothing: until then the slots of earlier ones are kept for us."""
        if slots is not None and (slots != self.slots or order != self.order):
            self.slots, self.order = slots, order
            self.journal.add({"slots": slots} if order is None else {"slots": slots, "order": order})

    # Starting

    def start(self) -> None:
        while True:
            while self.can_start():
                unit = self.queue.take()
                self.journal.add({"start": unit.number, "time": time.time()})
                self.announced.append(unit)
                unit.cpus = self.cpus.take()
                self.take_orders()
                if self.is_stopping:
                    return
            if not self.announced or not self.journal.flush():
                return
            announced, self.announced = self.announced, []
            for unit in announced:
                self.launch(unit)

    def can_start(self) -> bool:
        if self.signals.stop or self.queue.next is None or self.used_slots >= (self.slots or 0):
            return False
        return not self.journal.is_refused and self.is_warm_ready()

    def launch(self, unit: Unit) -> None:
        try:
            self.launcher.prepare_folders()
            log = self.files.prepare(unit)
            try:
                if self.warm and self.warm.order(unit):
                    return
                with self.cpus.on(unit.cpus):
                    pid = self.launcher.start(unit, log)
            finally:
                os.close(log)
        except UnitProblem as problem:
            self.end(unit, problem=str(problem))
        else:
            self.children[pid] = unit
            self.is_running(unit, pid, start_ticks_of(pid))

    def is_running(self, unit: Unit, pid: int, start_ticks: str) -> None:
        unit.pid, unit.start_ticks = pid, start_ticks
        self.journal.add({"running": unit.number, "pid": pid, "started": start_ticks}, urgent=False)

    # Ending

    def take_outcomes(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if self.warm and pid not in self.children:
                # The child of a warm process that died: its last words name the unit.
                self.take_warm_messages()
            unit = self.children.pop(pid, None)
            if unit:
                cpu_seconds = usage.ru_utime + usage.ru_stime
                self.process_ended(unit, Exit(status, cpu_seconds, usage.ru_maxrss * MAXRSS_BYTES, time.time()))
        for pid, unit in list(self.children.items()):
            if unit.is_adopted and not self.is_there(unit, process_stat(pid)):
                del self.children[pid]
                self.end(unit, lost=True)

    def is_there(self, unit: Unit, stat: ProcessStat | None) -> bool:
        """Of a unit that the warm process left: whether it runs, or somebody is about to tell how it ended."""
        if stat and stat.start_ticks == unit.start_ticks and not (unit.is_elsewhere and stat.has_ended):
            return True
        if not self.warm_parent or not unit.is_elsewhere:
            return False
        unit.gone_at = unit.gone_at or time.monotonic()
        return time.monotonic() < unit.gone_at + NEWS_SECONDS

    def process_ended(self, unit: Unit, exit: Exit) -> None:
        is_seen = self.warm.is_reaper if self.warm and self.warm.is_borrowed else self.is_subreaper
        if not is_seen and unit.pid:
            send_signal_to_group(unit.pid, signal.SIGTERM)
        self.give_back_cpus(unit)
        self.ends.process_ended(unit, exit, is_stop_wanted=self.signals.stop)

    def end(self, unit: Unit, problem: str | None = None, lost: bool = False) -> None:
        """Of a unit without an outcome."""
        self.give_back_cpus(unit)
        self.ends.write(unit, problem=problem, lost=lost)

    def give_back_cpus(self, unit: Unit) -> None:
        if unit.cpus:
            self.cpus.give_back(unit.cpus)
            unit.cpus = None

    def end_unit_over_memory(self) -> None:
        unit = self.memory.unit_to_end(self.running)
        if unit and unit.pid:
            unit.is_over_memory = True
            send_signal_to_group(unit.pid, signal.SIGKILL)
            send_signal(session_and_descendants(own_table(), unit.pid), signal.SIGKILL)

    # Stopping

    def go_on_stopping(self) -> bool:
        """True when no unit runs any more."""
        now = time.monotonic()
        if self.kill_at is None:
            self.kill_at = now + self.assignment.grace
            # There is no time to wait for a slow disk.
            self.journal.postpone_sync(self.kill_at + self.assignment.give_up)
            for unit in [*self.announced, *self.running]:
                unit.is_stopped = True
            for unit in self.announced:
                self.end(unit)
            self.announced = []
            self.signal_all(signal.SIGTERM)
        elif now >= self.kill_at:
            self.signal_all(signal.SIGKILL)
        if now >= self.kill_at + self.assignment.give_up:
            for unit in self.running:
                self.end(unit, lost=True)
            self.children = {}
            if self.warm:
                self.warm.units = {}
        return not self.used_slots

    def signal_all(self, number: int) -> None:
        if self.warm and not self.warm.units and not self.borrowed_pid:
            self.close_warm()
        for unit in self.running:
            if unit.pid:
                send_signal_to_group(unit.pid, number)
        found = descendants(process_table(), self.roots)
        if self.warm and self.warm.pid:
            found.discard(self.warm.pid)
        send_signal(found, number)

    @property
    def roots(self) -> list[int]:
        """All that units began is below these, as far as it can be told."""
        borrowed = [self.borrowed_pid] if self.borrowed_pid else []
        return [os.getpid(), *borrowed, *(pid for pid, unit in self.children.items() if unit.is_elsewhere)]

    @property
    def borrowed_pid(self) -> int | None:
        """Of a warm process that is no child of the worker, so that what is below it is not below the worker."""
        return self.warm.pid if self.warm and self.warm.is_borrowed else None

    def leave(self) -> None:
        if not self.borrowed_pid:
            self.close_warm()
        self.end_left_behind()
        self.close_warm()
        self.leave_warm_parent()
        record: dict[str, object] = {"finished": True, "stopped": self.is_stopping}
        if self.assignment.is_pack:
            for ending in (".txt", ".py"):
                remove_file(self.assignment.warm_files + ending)
            record.update(out=end_of_stream(STANDARD_OUTPUT), err=end_of_stream(STANDARD_ERROR))
        self.journal.add(record)
        while not self.journal.flush(last=True):
            time.sleep(0.2)

    def end_left_behind(self) -> None:
        """Processes that units began and did not end."""
        kill_at = self.kill_at or time.monotonic() + self.assignment.grace
        was_told = False
        while time.monotonic() < kill_at + self.assignment.give_up and self.is_anything_left():
            is_late = time.monotonic() >= kill_at
            if is_late or not was_told:
                self.signal_all(signal.SIGKILL if is_late else signal.SIGTERM)
                was_told = True
            self.wait(LOOK_WHILE_ENDING_SECONDS)
            self.take_warm_messages()

    def is_anything_left(self) -> bool:
        has_children = reap_quietly()
        root = self.borrowed_pid
        below = table_below(root) if root else {}
        return has_children or any(pid != root and not stat.has_ended for pid, stat in below.items())

    def kill_everything(self) -> None:
        """For a defect of the worker itself: no unit may outlive it unseen."""
        for _ in range(50):
            found = descendants(process_table(), self.roots) | set(self.roots[1:])
            if not found:
                return
            send_signal(found, signal.SIGKILL)
            if not reap_quietly():
                return
            time.sleep(0.05)

    # The warm process

    def is_warm_ready(self) -> bool:
        """False while it imports."""
        if self.may_be_warm:
            self.may_be_warm = False
            self.borrow_warm()
            if self.warm is None:
                self.start_warm()
            if self.warm is not None:
                self.journal.add({"importing": True, "time": time.time()})
        return self.warm is None or self.warm.is_ready

    def borrow_warm(self) -> None:
        if self.assignment.warm_parent is None:
            return
        from .warm import WarmParentLink

        try:
            self.warm_parent = WarmParentLink(self.assignment.warm_parent)
            self.warm = self.warm_parent.borrow(self.launcher, self.files)
        except (OSError, UnitProblem):  # there is none, or the problem is told when a unit starts
            pass
        if self.warm is None:
            self.leave_warm_parent()

    def leave_warm_parent(self) -> None:
        if self.warm_parent:
            self.warm_parent.close()
            self.warm_parent = None

    def start_warm(self) -> None:
        """It is worth a start when more than one unit is left."""
        if self.queue.left < 2:
            return
        from .warm import start_warm_process

        assert self.queue.next is not None
        try:
            # Libraries look once, when they are imported, how many CPUs there are.
            with self.cpus.on(self.cpus.first_free()):
                self.warm = start_warm_process(self.launcher, self.files, self.queue.next, self.assignment.warm_files)
        except (OSError, UnitProblem) as error:
            tell_cold_start(str(error))

    def take_warm_messages(self) -> None:
        if self.warm:
            for message in self.warm.messages():
                self.take_warm_message(message)
        if self.warm_parent:
            for told in self.warm_parent.messages():
                self.take_news(told)

    def take_news(self, told: OrphanEnded | None) -> None:
        """Of the warm parent."""
        if told is None:
            self.leave_warm_parent()
            return
        unit = self.children.get(told.pid)
        if unit and unit.is_elsewhere:
            del self.children[told.pid]
            self.process_ended(unit, Exit(told.status, told.cpu_seconds, told.peak_memory_bytes, time.time()))

    def take_warm_message(self, message: Message) -> None:
        from .warm import Ended, Forked, NotStarted

        if isinstance(message, Forked):
            self.is_running(*message)
        elif isinstance(message, Ended):
            unit, status, cpu_seconds, peak_memory_bytes = message
            self.process_ended(unit, Exit(status, cpu_seconds, peak_memory_bytes, time.time()))
        elif isinstance(message, NotStarted):
            self.end(message.unit, problem=message.problem)
        else:
            self.close_warm()
            if not any(unit.is_elsewhere for unit in self.children.values()):
                self.leave_warm_parent()
            if message.may_try_own and not self.signals.stop:
                self.start_warm()
            else:
                tell_cold_start(message.why)

    def close_warm(self) -> None:
        """Units that run in it become children of the worker, or of the warm parent, or are lost."""
        if not self.warm:
            return
        warm, self.warm = self.warm, None
        warm.close()
        silent = [unit for unit in warm.units.values() if unit.pid is None]
        unknown = {os.path.realpath(self.files.log(unit)): unit for unit in silent}
        if unknown:
            for log, pids in writers(process_table(), unknown).items():
                for pid in pids:
                    stat = process_stat(pid)
                    if stat and stat.session == pid:  # the leader of the session is the unit itself
                        self.is_running(unknown[log], pid, stat.start_ticks)
        for unit in warm.units.values():
            if unit.pid is None:
                self.end(unit, lost=True)
            else:
                unit.is_adopted, unit.is_elsewhere = True, warm.is_borrowed
                self.children[unit.pid] = unit


def tell_cold_start(why: str) -> None:
    sys.stderr.write(f"No warm start, every unit imports for itself: {why}\n")
    sys.stderr.flush()
