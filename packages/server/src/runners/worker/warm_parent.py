"""The warm parent of an environment: keeps a tree of processes that have imported, and forks from it for each batch.

    python3 -I -S worker.pyz --warm <folder>

A process of its own for each account, interpreter and set of variables; the folder, which only its account can enter,
holds warm.json and ahead.json, written by the service, a socket, and state.json, written here. It needs nobody: it ends
by itself when nobody used it for a while, when no service is there to renew the lease, when files of the environment
change, or when its folder is gone. Batches that run in it end as if they ran alone.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from typing import Any, NamedTuple

from .assignment import Batch, read_json
from .launcher import Launcher
from .passing import SOCKET, Packet, is_own_account, listen_in, receive, send
from .processes import become_subreaper, own_table, send_signal, start_ticks_of
from .signals import Signals
from .surroundings import surroundings
from .tree import Tree
from .unit_files import UnitFiles, remove_file
from .warm import can_be_warm, warm_program

LOOK_SECONDS = 1.0
WATCH_SECONDS = 2.0
STATE_SECONDS = 10.0
GRACE_SECONDS = 5.0
MOST_WORKERS = 500  # a system call waits for a thousand descriptors at most
LONGEST_LIFE_SECONDS = 24 * 3600.0  # what libraries remember of their import (times, tokens) gets old


class Rules(NamedTuple):
    """What the service has written to warm.json."""

    interpreter: str
    environment: dict[str, str]
    working_folder: str
    idle_seconds: float
    lease: str  # a file that services touch
    lease_seconds: float


def run_warm_parent(folder: str) -> None:
    """With the lock of the folder held."""
    rules = Rules(**read_json(f"{folder}/warm.json"))
    WarmParent(folder, rules).run()


class WarmParent:
    def __init__(self, folder: str, rules: Rules) -> None:
        self.folder, self.rules = folder, rules
        batch = Batch([rules.interpreter, ""], folder, rules.working_folder, rules.environment, True, 0)
        launcher = Launcher(batch, UnitFiles(folder), 0)
        launcher.prepare_folders()
        self.surroundings = surroundings(launcher, warm_program())
        self.tree = Tree(launcher, folder, warm_program())
        self.workers: list[socket.socket] = []
        self.began = self.used = time.monotonic()
        self.is_ending = False
        self.next_watch = 0.0
        self.next_state = 0.0
        self.written: object = None
        self.told_at: float | None = None  # when processes that were left behind were asked to end
        become_subreaper()  # how units end whose parent was killed is told to their workers
        self.signals = Signals()
        self.listener = listen_in(folder)

    def run(self) -> None:
        self.take_ahead()
        try:
            while not self.is_over():
                self.take_orders()
                self.take_ended()
                self.end_left_behind()
                self.write_state()
                self.wait()
        finally:
            self.leave()

    # When it ends

    def is_over(self) -> bool:
        now = time.monotonic()
        if now >= self.next_watch:
            self.next_watch = now + WATCH_SECONDS
            if self.tree.has_changed():
                self.tree.fell()
                self.is_ending = True
            self.is_ending = self.is_ending or not self.is_wanted(now)
        return self.is_ending and not self.workers

    def is_wanted(self, now: float) -> bool:
        if not self.workers and now - self.used > self.rules.idle_seconds:
            return False
        if now - self.began > LONGEST_LIFE_SECONDS:
            return False
        if not all(os.path.exists(f"{self.folder}/{name}") for name in ("warm.json", SOCKET)):
            return False
        try:
            return time.time() - os.stat(self.rules.lease).st_mtime < self.rules.lease_seconds
        except OSError:
            return False

    def leave(self) -> None:
        remove_file(f"{self.folder}/{SOCKET}")
        remove_file(f"{self.folder}/state.json")
        self.listener.close()
        self.tree.fell()
        if not self.workers:  # else a defect brought it here, and batches go on without it
            send_signal(self.left_behind(), signal.SIGKILL)

    # What is asked of it

    def wait(self) -> None:
        sockets = {one.fileno(): one for one in (self.listener, *self.workers, *self.tree.sockets)}
        ready = select.select([self.signals.wakeup, *sockets], [], [], LOOK_SECONDS)[0]
        for descriptor in ready:
            one = sockets.get(descriptor)
            if one is None:
                self.signals.clear()
            elif one is self.listener:
                self.accept()
            elif one in self.workers:
                self.take_worker(one)
            elif one in self.tree.sockets:
                self.tree.take(one)

    def take_orders(self) -> None:
        if self.signals.stop:
            self.is_ending = True
        if self.signals.look:
            self.signals.look = False
            self.take_ahead()

    def take_ahead(self) -> None:
        """Scripts of a job that was planned."""
        try:
            scripts = read_json(f"{self.folder}/ahead.json")["scripts"]
        except (OSError, ValueError, KeyError, TypeError):
            return
        self.used = time.monotonic()
        self.tree.want(script for script in scripts if can_be_warm([self.rules.interpreter, script]))

    def accept(self) -> None:
        try:
            worker, _ = self.listener.accept()
        except OSError:
            return
        if is_own_account(worker) and len(self.workers) < MOST_WORKERS:
            worker.setblocking(False)
            self.workers.append(worker)
        else:
            worker.close()

    def take_worker(self, worker: socket.socket) -> None:
        try:
            packet = receive(worker)
        except BlockingIOError:
            return
        if packet.words:
            self.take_request(packet)
            return
        worker.close()
        self.workers.remove(worker)
        self.used = time.monotonic()

    def take_request(self, packet: Packet) -> None:
        if packet.descriptor is None:
            return
        kind, *words = packet.words
        if kind == "batch" and len(words) == 2 and words[0] == self.surroundings and not self.is_ending:
            if can_be_warm([self.rules.interpreter, words[1]]):
                self.tree.batch(words[1], packet.descriptor)
                return
        with socket.socket(fileno=packet.descriptor) as waiting:
            send(waiting, "own", "it is for others, or about to end")

    # Processes that were left behind

    def take_ended(self) -> None:
        """Units whose parent was killed are children of this process: their workers want to know how they end."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            numbers = (pid, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
            for worker in self.workers:
                send(worker, "exit", *map(str, numbers))

    def end_left_behind(self) -> None:
        """Without any batch, only the tree is left."""
        if self.workers:
            self.told_at = None
            return
        left = self.left_behind()
        if not left:
            self.told_at = None
        elif self.told_at is None:
            self.told_at = time.monotonic()
            send_signal(left, signal.SIGTERM)
        elif time.monotonic() - self.told_at > GRACE_SECONDS:
            send_signal(left, signal.SIGKILL)

    def left_behind(self) -> list[int]:
        mine = {pid: stat for pid, stat in own_table().items() if pid != os.getpid()}
        return [pid for pid, stat in mine.items() if stat.session != self.tree.root and not stat.has_ended]

    # What it tells

    def write_state(self) -> None:
        """For the service, which counts, and ends those that are idle for longest when memory is short."""
        now = time.monotonic()
        known = (len(self.workers), self.tree.scripts, self.tree.root)
        if known == self.written and now < self.next_state:
            return
        self.written, self.next_state = known, now + STATE_SECONDS
        state: dict[str, Any] = {
            "pid": os.getpid(),
            "started": start_ticks_of(os.getpid()),
            "batches": len(self.workers),
            "idle_seconds": 0 if self.workers else round(now - self.used, 1),
            "memory_bytes": self.tree.memory_bytes(),
            "scripts": self.tree.scripts,
        }
        draft = f"{self.folder}/state.json.new"
        try:
            with open(draft, "w") as file:
                json.dump(state, file)
            os.rename(draft, f"{self.folder}/state.json")
        except OSError:
            pass
