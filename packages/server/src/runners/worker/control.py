"""The control file, in which the service tells how many units may run at a time, and when to stop."""

from __future__ import annotations

import json
import os
from typing import NamedTuple


class Control(NamedTuple):
    slots: int | None
    stop: bool
    order: int | None


def whole_number(value: object) -> int | None:
    return value if type(value) is int else None


class ControlFile:
    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None

    def look_again(self) -> None:
        """A change within the resolution of the file's time would not be seen."""
        self._seen = None

    def read_if_changed(self) -> Control | None:
        """None where the file has not changed, is missing or is cut off: then everything stays as it is."""
        try:
            about = os.stat(self._path)
            seen = (about.st_mtime_ns, about.st_ino, about.st_size)
            if seen == self._seen:
                return None
            with open(self._path) as file:
                content = json.load(file)
            control = Control(
                slots=whole_number(content["slots"]),
                stop=content.get("stop") is True,
                order=whole_number(content.get("order")),
            )
            self._seen = seen
            return control
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
