"""The signals that the worker hears: they set flags, and end a wait."""

from __future__ import annotations

import os
import signal


class Signals:
    def __init__(self) -> None:
        self.stop = False  # units end, and no more start
        self.look = False  # the control file has changed
        self.wakeup, writer = os.pipe()  # children do not inherit it
        for end in (self.wakeup, writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGUSR1, self._on_look)
        signal.signal(signal.SIGTERM, self._on_stop)
        signal.signal(signal.SIGINT, self._on_stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    def clear(self) -> None:
        try:
            os.read(self.wakeup, 4096)
        except BlockingIOError:
            pass

    def _on_look(self, *_: object) -> None:
        self.look = True

    def _on_stop(self, *_: object) -> None:
        self.stop = True
