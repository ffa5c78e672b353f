"""The programs that run units: a batch beside the service, a pack in a scheduler's job, and what imports ahead."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import sys
import time

from .assignment import Assignment, batch_assignment, pack_assignment
from .claim import Superseded, take_claim
from .processes import boot_id, keep_descriptors_from_children, start_ticks_of
from .recovery import EarlierWorkers, end_processes_of
from .units import read_units
from .worker import Worker


def run_batch(folder: str) -> None:
    folder = os.path.abspath(folder)
    if has_lock(folder):
        run(batch_assignment(folder))


def run_warm(folder: str) -> None:
    from .warm_parent import run_warm_parent

    folder = os.path.abspath(folder)
    # who holds the lock may be told of scripts to import before it listens
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    if has_lock(folder):
        run_warm_parent(folder)


def has_lock(folder: str) -> bool:
    """Held until the process ends. One process works with a folder at a time."""
    keep_descriptors_from_children()
    lock = os.open(f"{folder}/lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    sign_lock(lock)
    return True


def sign_lock(lock: int) -> None:
    """Tells who holds the lock: the service must not wait for the journal, which may take long to read."""
    try:
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()} {start_ticks_of(os.getpid())}".encode())
    except OSError:
        pass


def run_pack(inputs: str, outputs: str, round_number: int, pack: int, on_nodes: bool) -> None:
    inputs, outputs = os.path.abspath(inputs), os.path.abspath(outputs)
    keep_descriptors_from_children()
    assignment = pack_assignment(inputs, outputs, round_number, pack, on_nodes)
    os.makedirs(outputs, exist_ok=True)
    assert assignment.claim is not None
    try:
        if take_claim(assignment.claim):
            run(assignment)
        else:
            sys.stderr.write("Another job of the scheduler has these tasks, so that none is started here.\n")
    except Superseded:
        sys.stderr.write("The scheduler has started this job again elsewhere, so that it ends here.\n")


def run(assignment: Assignment) -> None:
    earlier = EarlierWorkers(assignment.journal)
    if earlier.have_finished:
        return
    worker = Worker(assignment, earlier)
    try:
        worker.journal.add(worker_record(assignment))
        worker.journal.flush()
        if earlier.open:
            end_lost_units(worker, earlier)
        worker.run()
    except BaseException:
        worker.kill_everything()
        raise


def worker_record(assignment: Assignment) -> dict[str, object]:
    me = os.getpid()
    about = {"worker": me, "started": start_ticks_of(me), "boot": boot_id(), "time": time.time()}
    job = assignment.scheduler_job
    return {**about, **(job._asdict() if job else {"host": os.uname().nodename})}


def end_lost_units(worker: Worker, earlier: EarlierWorkers) -> None:
    assignment = worker.assignment
    units = [unit for unit in read_units(assignment.unit_lines()) if unit.number in earlier.open]
    logs = {os.path.realpath(worker.files.log(unit)) for unit in units}
    end_processes_of(earlier, logs, assignment.grace, assignment.give_up)
    for unit in units:
        worker.ends.write(unit, lost=True)
