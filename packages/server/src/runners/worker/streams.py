"""The worker's own standard output and error: in a job of a scheduler, files in which others have written, too."""

from __future__ import annotations

import os
import stat

from .unit_files import last_part

LONGEST_END = 256 * 1024


def end_of_stream(descriptor: int) -> str:
    """Empty where the stream is no file."""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
        try:
            return last_part(again, os.fstat(again).st_size, LONGEST_END)
        finally:
            os.close(again)
    except OSError:
        return ""
