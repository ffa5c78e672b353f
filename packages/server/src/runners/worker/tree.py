"""A tree of processes that have imported: a root without anything, below it what scripts share, below that a process
for each script, which forks one for each batch (warm_program.py is what all of them run).

What cannot be shared is found out at each step, and takes nothing else with it: imports that print or fail when they
are shared are left to each script, and a script whose imports cannot be copied (threads, connections, GPUs) is refused.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterable
from typing import NamedTuple, Union

from .launcher import NO_INPUT, FileAction, Launcher, spawn
from .memory import PAGE_BYTES, exact_memory
from .passing import receive, send, socket_pair
from .processes import own_table, send_signal_to_group
from .shared_imports import imports_of, largest_share
from .stamps import Stamps
from .unit_files import write_file
from .units import UnitProblem


class Branch:
    """A process that others are forked from, or will be when it has imported."""

    def __init__(self, control: socket.socket, printed: str) -> None:
        self.control = control
        self.printed = printed
        self.began_ns = time.time_ns()
        self.is_ready = False


class Shared:
    """The imports that several scripts share."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.branch: Branch | None = None
        self.has_failed = False

    def suits(self, imports: list[str]) -> bool:
        return not self.has_failed and set(self.names) <= set(imports)


class Refusal(NamedTuple):
    """Why a script is not served from here: `refused` when it has to be cold, `own` when a batch may import itself."""

    kind: str
    why: str


class Head:
    """A script, with the process that has imported what it imports first."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.imports = imports_of(script)
        self.branch: Branch | None = None
        self.refusal: Refusal | None = None
        self.is_apart = False  # shares nothing with others
        self.files = Stamps()
        self.asked: list[int] = []  # sockets of batches that wait for it

    @property
    def is_settled(self) -> bool:
        return self.refusal is not None or (self.branch is not None and self.branch.is_ready)


Owner = Union[Shared, Head, None]  # of a branch; nobody's is the root


class Tree:
    def __init__(self, launcher: Launcher, folder: str, program: bytes) -> None:
        self._launcher, self._folder = launcher, folder
        self._path = f"{folder}/program/warm-program.py"  # no name that can be imported, in a folder of its own
        os.makedirs(f"{folder}/program", exist_ok=True)
        write_file(self._path, program)
        self.root: int | None = None  # its pid
        self._root: Branch | None = None
        self._branches: dict[socket.socket, tuple[Branch, Owner]] = {}
        self._shared: list[Shared] = []
        self._heads: dict[str, Head] = {}
        self._number = 0
        self._watched = Stamps()

    # What is asked of it

    def want(self, scripts: Iterable[str]) -> None:
        """Imports ahead what these scripts import."""
        new = [script for script in dict.fromkeys(scripts) if script not in self._heads]
        for script in new:
            self._heads[script] = Head(script)
        self._plan([self._heads[script] for script in new])
        self._go_on()

    def batch(self, script: str, descriptor: int) -> None:
        """Hands the socket of a batch to a process that has imported for its script, at once or when there is one."""
        head = self._heads.get(script)
        if head and not head.files.are_true():
            self.fell()
        if script not in self._heads:
            self._heads[script] = Head(script)
        head = self._heads[script]
        head.asked.append(descriptor)
        self._answer(head)
        self._go_on()

    def has_changed(self) -> bool:
        """A quick look: at the interpreter, the scripts and the folders of modules."""
        return not self._watched.are_true()

    @property
    def sockets(self) -> list[socket.socket]:
        return list(self._branches)

    @property
    def scripts(self) -> dict[str, str]:
        return {
            script: head.refusal.why if head.refusal else "ready" if head.is_settled else "importing"
            for script, head in self._heads.items()
        }

    def memory_bytes(self) -> int:
        """Of the processes that have imported; what several of them share counts once."""
        if self.root is None:
            return 0
        own = {pid: stat for pid, stat in own_table().items() if stat.session == self.root}
        return sum(exact_memory(pid, stat.resident_pages * PAGE_BYTES) for pid, stat in own.items())

    def fell(self) -> None:
        """Ends all of it but the batches; whoever waits is told to do without."""
        for control in self._branches:
            control.close()
        if self.root is not None:
            send_signal_to_group(self.root, signal.SIGKILL)
        for head in self._heads.values():
            answer(head.asked, "own", "it ended")
        self.root, self._root = None, None
        self._branches, self._heads, self._shared = {}, {}, []
        self._watched = Stamps()

    # What it says

    def take(self, control: socket.socket) -> None:
        branch, owner = self._branches[control]
        try:
            words = receive(control).words
        except BlockingIOError:
            return
        if words[:1] == ["ready"]:
            branch.is_ready = True
            if isinstance(owner, Head):
                self._has_imported(owner, branch)
        else:
            del self._branches[control]
            control.close()
            kind, why = words if len(words) == 2 else ("refused", "it ended")
            self._is_lost(branch, owner, kind, why)
        self._go_on()

    def _has_imported(self, head: Head, branch: Branch) -> None:
        self._take_stamps(head, branch)
        if head.files.has_file_since(branch.began_ns):
            self._branches.pop(branch.control)[0].control.close()
            self._refuse(head, Refusal("refused", "its files changed while they were imported"))
        self._answer(head)

    def _is_lost(self, branch: Branch, owner: Owner, kind: str, why: str) -> None:
        if owner is None:
            self.fell()
        elif isinstance(owner, Shared):
            owner.has_failed, owner.branch = True, None
        elif kind == "apart" and not owner.is_apart:
            owner.is_apart, owner.branch = True, None
        else:
            self._take_stamps(owner, branch)
            self._refuse(owner, Refusal("refused" if kind == "refused" else "own", why))
            self._answer(owner)

    def _refuse(self, head: Head, refusal: Refusal) -> None:
        head.refusal, head.branch = refusal, None

    def _take_stamps(self, head: Head, branch: Branch) -> None:
        paths = [head.script, self._launcher.command[0]]
        try:
            with open(f"{branch.printed}.files", "rb") as file:
                paths += [os.fsdecode(path) for path in file.read().split(b"\0")]
        except OSError:  # it was ended before it could tell
            pass
        head.files = Stamps(paths)
        self._watched.add([*paths[:2], *head.files.folders])

    # How it grows

    def _plan(self, heads: list[Head]) -> None:
        """What the scripts share is worked out once, for those that came together."""
        open_heads = {head.script: head.imports for head in heads if not self._shared_for(head)}
        while True:
            share = largest_share(open_heads)
            if share is None:
                return
            self._shared.append(Shared(share.names))
            for script in share.scripts:
                del open_heads[script]

    def _shared_for(self, head: Head) -> Shared | None:
        return None if head.is_apart else next((one for one in self._shared if one.suits(head.imports)), None)

    def _go_on(self) -> None:
        """Begins with what somebody waits for; ahead of that, one at a time, as there is other work for the machine."""
        try:
            for head in [head for head in self._heads.values() if head.asked]:
                self._grow(head)
            ahead = next((head for head in self._heads.values() if not head.is_settled), None)
            if ahead:
                self._grow(ahead)
        except (OSError, UnitProblem):  # no such interpreter any more, or no room for a process
            self.fell()

    def _grow(self, head: Head) -> None:
        if head.branch is not None or head.refusal is not None:
            return
        root = self._root or self._plant()
        shared = self._shared_for(head)
        words = [self._launcher.command[0], head.script]
        if shared is None:
            source = root
        elif shared.branch is None:
            shared.branch = self._fork(root, shared, "shared", [*words, *shared.names])
            return
        elif shared.branch.is_ready:
            source = shared.branch
        else:
            return
        arguments = ["--args-json", f"{self._folder}/args.json", "--out-json", f"{self._folder}/out.json"]
        head.branch = self._fork(source, head, "script", [*words, *arguments])

    def _answer(self, head: Head) -> None:
        if head.refusal is not None:
            answer(head.asked, *head.refusal)
        elif head.branch is not None and head.branch.is_ready:
            for descriptor in head.asked:
                send(head.branch.control, "batch", descriptor=descriptor)
                os.close(descriptor)
            head.asked = []

    def _fork(self, source: Branch, owner: Owner, kind: str, words: list[str]) -> Branch:
        ours, theirs = socket_pair()
        self._number += 1
        printed = f"{self._folder}/printed-{self._number}"
        try:
            ours.setblocking(False)
            send(source.control, kind, printed, *words, descriptor=theirs.fileno())
        finally:
            theirs.close()
        branch = Branch(ours, printed)
        self._branches[ours] = (branch, owner)
        return branch

    def _plant(self) -> Branch:
        ours, theirs = socket_pair()
        printed = f"{self._folder}/printed-0"
        actions: list[FileAction] = [
            NO_INPUT,
            (os.POSIX_SPAWN_OPEN, 1, printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        try:
            ours.setblocking(False)
            theirs.set_inheritable(True)
            argv = [self._launcher.command[0], self._path, str(theirs.fileno())]
            self.root = spawn(self._launcher.find_program(), argv, self._launcher.environment, actions)
        finally:
            theirs.close()
        self._root = Branch(ours, printed)
        self._branches[ours] = (self._root, None)
        return self._root


def answer(descriptors: list[int], kind: str, why: str) -> None:
    """Tells the workers that wait, and forgets them."""
    while descriptors:
        with socket.socket(fileno=descriptors.pop()) as waiting:
            send(waiting, kind, why)
