"""Prints what is new in the journals of packs, a JSON object a line, until nobody is there to read it.

It runs on a login node and is told by lines on its standard input what to follow:

    {"follow": folder, "offsets": {file: bytes}, "longest": bytes}
    {"forget": folder}

The first begins with what is not known yet, and takes records up to the longest; the second ends it. A message without
a folder is about the one of the command line.
"""

from __future__ import annotations

import errno
import json
import os
import select
import stat
import time
from typing import Any

LONGEST_RECORD = 256 * 1024 * 1024
CHUNK = 1024 * 1024
READ_SECONDS = 0.3
LIST_SECONDS = 2.0
ALIVE_SECONDS = 10.0
REFRESHED_AT_A_TIME = 50  # files about which a file server is asked


class FollowedJournal:
    def __init__(self, folder: str, name: str, offset: int, longest: int) -> None:
        self.folder, self.name, self.offset = folder, name, offset
        self.has_finished = False
        self.is_broken = False  # it has a record without an end, which no worker wrote
        self._path = f"{folder}/{name}"
        self._longest = longest
        self._size_without_news = -1

    def read_records(self) -> bytes:
        """Whole records that are new: about a megabyte, unless one alone is larger."""
        try:
            if self.has_finished or os.stat(self._path).st_size in (self._size_without_news, self.offset):
                return b""
            with open(open_regular(self._path), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self.offset)
                data = file.read(CHUNK)
                while data and b"\n" not in data:
                    more = file.read(CHUNK)
                    if not more:
                        break
                    data += more
                    if len(data) > self._longest:
                        self.has_finished = self.is_broken = True
                        return b""
        except OSError:
            return b""
        data = data[: data.rfind(b"\n") + 1]
        self._size_without_news = -1 if data else size
        self.offset += len(data)
        self.has_finished = data[:-1].rpartition(b"\n")[2].startswith(b'{"finished"')
        return data

    def refresh(self) -> None:
        """A file server is asked for the size when a file is opened; a look alone may tell one of a minute ago."""
        try:
            os.close(open_regular(self._path))
        except OSError:
            pass


def open_regular(path: str) -> int:
    """Opens a file; a task may have put a pipe, which would be waited for, or a link in its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a file")
    return descriptor


class Messages:
    """What is said on standard input, a message a line."""

    def __init__(self) -> None:
        self.have_ended = False
        self._rest = b""

    def wait(self, longest: float) -> list[dict[str, Any]]:
        """Messages, at once when there are some."""
        if not self.have_ended and select.select([0], [], [], longest)[0]:
            part = os.read(0, CHUNK)
            self.have_ended = not part
            self._rest += part
        *lines, self._rest = self._rest.split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]


class Follower:
    def __init__(self, default_folder: str) -> None:
        self._default_folder = default_folder
        self._folders: dict[str, dict[str, FollowedJournal]] = {}
        self._longest = LONGEST_RECORD
        self._next_listing = 0.0
        self._listings = 0

    def take(self, message: dict[str, Any]) -> None:
        self._folders.pop(message.get("forget", ""), None)
        if "offsets" not in message:
            return
        folder: str = message.get("follow", self._default_folder)
        self._longest = message.get("longest", LONGEST_RECORD)
        self._folders[folder] = {
            name: FollowedJournal(folder, name, offset, self._longest) for name, offset in message["offsets"].items()
        }
        self._next_listing = 0.0

    def list_if_due(self) -> None:
        """Finds journals that have come, and asks a file server about some of those that may have grown."""
        now = time.monotonic()
        if now < self._next_listing:
            return
        for folder, journals in self._folders.items():
            for name in journals_in(folder):
                if name not in journals:
                    journals[name] = FollowedJournal(folder, name, 0, self._longest)
        growing = [journal for journal in self._journals() if not journal.has_finished]
        step = 1 + len(growing) // REFRESHED_AT_A_TIME
        for journal in growing[self._listings % step :: step]:
            journal.refresh()
        self._next_listing = now + LIST_SECONDS
        self._listings += 1

    def print_news(self) -> bool:
        """True when there was some."""
        has_news = False
        for journal in self._journals():
            begin, data = journal.offset, journal.read_records()
            about = {"folder": journal.folder, "file": journal.name}
            if data:
                has_news = True
                # A large record goes in pieces: who listens puts them together.
                for start in range(0, len(data), CHUNK):
                    text = data[start : start + CHUNK].decode("latin-1")  # a character for each byte, whatever they are
                    print_line({**about, "offset": begin + start, "next": begin + start + len(text), "data": text})
            elif journal.is_broken:
                journal.is_broken = False
                print_line({**about, "broken": True})
        return has_news

    def _journals(self) -> list[FollowedJournal]:
        return [journal for journals in self._folders.values() for journal in journals.values()]


def journals_in(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:  # it may come
        return []
    return sorted(name for name in names if name[0] == "r" and "-" in name and name.endswith(".jsonl"))


def print_line(message: dict[str, object]) -> None:
    rest = (json.dumps(message) + "\n").encode()
    while rest:
        rest = rest[os.write(1, rest) :]


def follow(default_folder: str = "") -> None:
    follower, messages = Follower(default_folder), Messages()
    has_news, next_sign = False, 0.0
    while not messages.have_ended:
        for message in messages.wait(0 if has_news else READ_SECONDS):
            follower.take(message)
        follower.list_if_due()
        has_news = follower.print_news()
        now = time.monotonic()
        if now >= next_sign:
            print_line({"alive": True})
            next_sign = now + ALIVE_SECONDS
