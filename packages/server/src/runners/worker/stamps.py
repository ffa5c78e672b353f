"""Whether files are still what they were; of folders, whether they have the same modules."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

ENDINGS = (".py", ".so", ".pyc", ".pth")


class Stamp(NamedTuple):
    changed_ns: int
    size: int
    number: int
    modules: frozenset[str] | None  # of a folder


def modules_in(folder: str) -> frozenset[str]:
    """The names in a folder that an import could find. What else is written there means nothing."""
    try:
        with os.scandir(folder) as entries:
            return frozenset(one.name for one in entries if is_module(one))
    except OSError:
        return frozenset()


def is_module(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(ENDINGS) or (
        entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir()
    )


def stamp_of(path: str) -> Stamp | None:
    """None where there is nothing."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    modules = modules_in(path) if stat.S_ISDIR(about.st_mode) else None
    return Stamp(about.st_mtime_ns, about.st_size, about.st_ino, modules)


def is_true(path: str, stamp: Stamp | None) -> bool:
    try:
        about = os.stat(path)
    except OSError:
        return stamp is None
    if stamp is None or about.st_ino != stamp.number:
        return False
    is_untouched = (about.st_mtime_ns, about.st_size) == (stamp.changed_ns, stamp.size)
    return is_untouched or (stamp.modules is not None and modules_in(path) == stamp.modules)


class Stamps:
    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._known: dict[str, Stamp | None] = {}
        self.add(paths)

    def add(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._known.setdefault(path, stamp_of(path))

    @property
    def folders(self) -> list[str]:
        return [path for path, stamp in self._known.items() if stamp and stamp.modules is not None]

    def are_true(self) -> bool:
        return all(is_true(path, stamp) for path, stamp in self._known.items())

    def has_file_since(self, time_ns: int) -> bool:
        """Whether a file was written after that."""
        files = (stamp for stamp in self._known.values() if stamp and stamp.modules is None)
        return any(stamp.changed_ns > time_ns for stamp in files)
