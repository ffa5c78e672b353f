"""The journal, a file of JSON lines that only grows: from it the service knows what happened.

The service describes the records and what it believes of them (runners/records.ts); the names of fields are the same
there, in the database and on the wire.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping

RETRY_SECONDS = 1.0
SYNC_SECONDS = 1.0


class Journal:
    """Appends records; each flush is one write. What a full disk refuses is kept and tried again every second.

    A durable journal is read through a file server: once a second it has to be there as well. A server that is full may
    say so only then; what it dropped is written again.
    """

    def __init__(self, path: str, is_torn: bool, is_durable: bool = False) -> None:
        self._path = path
        self._descriptor = -1
        self._lines: list[str] = []
        self._unwritten = b"\n" if is_torn else b""
        self._is_urgent = False
        self._next_try = 0.0
        self._is_durable = is_durable
        self._safe_bytes = 0  # are certainly there
        self._unsynced: list[bytes] = []
        self._was_dropped = False
        self._next_sync = 0.0

    def add(self, record: Mapping[str, object], urgent: bool = True) -> None:
        self._lines.append(json.dumps(record))
        self._is_urgent = self._is_urgent or urgent

    @property
    def wants_flush(self) -> bool:
        """Something should not wait for more records."""
        return bool(self._is_urgent or self._unwritten or self._unsynced)

    @property
    def has_lines(self) -> bool:
        """Some records wait for others, to be written together."""
        return bool(self._lines)

    @property
    def is_refused(self) -> bool:
        """The disk did not take what was written."""
        return bool(self._unwritten)

    def flush(self, last: bool = False) -> bool:
        """True when everything is in the file."""
        if self._lines:
            self._unwritten += ("\n".join(self._lines) + "\n").encode()
            self._lines = []
        self._is_urgent = False
        if self._unwritten and time.monotonic() >= self._next_try:
            try:
                self._write()
            except OSError:
                self._next_try = time.monotonic() + RETRY_SECONDS
        if self._unsynced and (last or time.monotonic() >= self._next_sync):
            self._sync()
        return not self._unwritten and not (last and self._unsynced)

    def postpone_sync(self, until: float) -> None:
        self._next_sync = until

    def _write(self) -> None:
        if self._descriptor < 0:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self._safe_bytes = os.fstat(self._descriptor).st_size
        if self._was_dropped:
            os.ftruncate(self._descriptor, self._safe_bytes)
            self._was_dropped = False
        while self._unwritten:
            size = os.write(self._descriptor, self._unwritten)
            if self._is_durable:
                self._unsynced.append(self._unwritten[:size])
            self._unwritten = self._unwritten[size:]

    def _sync(self) -> None:
        try:
            os.fsync(self._descriptor)
            self._safe_bytes += sum(map(len, self._unsynced))
        except OSError:
            self._unwritten = b"".join(self._unsynced) + self._unwritten
            self._was_dropped = True
            self._next_try = time.monotonic() + RETRY_SECONDS
        self._unsynced = []
        self._next_sync = time.monotonic() + SYNC_SECONDS
