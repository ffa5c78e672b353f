"""Fail On Wells: goes wrong on purpose, in the ways tasks go wrong, to learn what the service shows then."""

from __future__ import annotations

import os
import signal
import sys
import warnings
import zlib

from demo_tasks.plates import place_of
from demo_tasks.program import run


def decompress_chunk(content: bytes) -> bytes:
    try:
        return zlib.decompress(content)
    except zlib.error as error:
        raise ValueError(f"chunk 0/0/0/0 is damaged ({len(content)} bytes)") from error


def load_whole_plate(pixels: int) -> bytearray:
    return bytearray(pixels * 2)


def fail(kind: str, well: str, exit_code: int, signal_name: str) -> None:
    if kind == "exception":
        decompress_chunk(b"these are not pixels")
    elif kind == "exit_code":
        print(f"Well {well} cannot be processed; giving up with exit code {exit_code}.", file=sys.stderr)
        sys.exit(exit_code)
    elif kind == "signal":
        os.kill(os.getpid(), getattr(signal, signal_name))
    elif kind == "memory_error":
        # More than any machine has an address for, so nothing is really allocated.
        load_whole_plate(2**60)
    else:
        warnings.warn(f"Well {well} looks out of focus; the results may be poor.", stacklevel=2)


def fail_on_wells(*, zarr_url: str, wells: list, kind: str, exit_code: int, signal_name: str) -> None:
    well = place_of(zarr_url).well
    if well in wells:
        print(f"Well {well} was chosen: {kind}.")
        fail(kind, well, exit_code, signal_name)
    print(f"Well {well} is fine.")


if __name__ == "__main__":
    run(__file__, fail_on_wells)
