"""Who has a pack: a file that a file server lets only one worker make.

A scheduler may run a job twice: it was submitted twice, or the scheduler lost sight of a machine and starts the job on
another one.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, NamedTuple

from .processes import is_alive
from .unit_files import remove_file

MOST_ATTEMPTS = 100
LOOK_SECONDS = 2.0

# The job of the scheduler, the machine and the process that has a pack, as the file tells.
Holder = dict[str, Any]


class Claim(NamedTuple):
    path: str
    holder: Holder


class Superseded(Exception):
    """Another worker has taken the pack over: this one is forgotten by the scheduler and must not go on."""


class ClaimWatch:
    def __init__(self, claim: Claim | None) -> None:
        self._claim = claim
        self._next_look = 0.0

    def look(self) -> None:
        if self._claim is None or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        path, mine = self._claim
        if (read_holder(path) or mine) != mine:
            raise Superseded()


def take_claim(claim: Claim) -> bool:
    """Whether the pack is ours: at most one worker has it at a time."""
    path, mine = claim
    draft = f"{path}.{mine['host']}.{mine['pid']}"
    with open(draft, "w") as file:
        json.dump(mine, file)
        file.flush()
        os.fsync(file.fileno())
    try:
        for _ in range(MOST_ATTEMPTS):
            if was_linked(draft, path):
                return True
            other = read_holder(path)
            if other is None:
                continue
            if not may_follow(mine, other):
                return False
            # One at a time may take over, after another look.
            turn = path + ".next"
            if was_linked(draft, turn):
                if read_holder(path) == other:
                    os.rename(turn, path)
                    return True
                remove_file(turn)
            elif may_follow(mine, read_holder(turn) or {}):
                remove_file(turn)
            else:
                return False
        return False
    finally:
        os.unlink(draft)


def read_holder(path: str) -> Holder | None:
    """None when there is no claim; nothing known of one that cannot be read."""
    try:
        with open(path) as file:
            content = json.load(file)
            return content if isinstance(content, dict) else {}
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}


def may_follow(mine: Holder, other: Holder) -> bool:
    """The scheduler started the same job once more, or the process is gone. Anybody else's pack is left alone."""
    if other.get("scheduler_job_id", "") != mine["scheduler_job_id"] or mine["restart"] < other["restart"]:
        return False
    if mine["scheduler_job_id"] is not None and mine["restart"] > other["restart"]:
        return True
    is_same_machine = (other["host"], other["boot"]) == (mine["host"], mine["boot"])
    return is_same_machine and not is_alive(other["pid"], other["started"])


def was_linked(draft: str, path: str) -> bool:
    """Whether the file got the name. A link is all or nothing, also on file servers, and its content is complete."""
    try:
        os.link(draft, path)
    except FileExistsError:
        # The answer of a file server may get lost, and the question be asked again.
        return os.stat(draft).st_nlink > 1
    return True
