"""The files of a unit: its arguments, its output and its log. Made before it starts, read when it has ended."""

from __future__ import annotations

import binascii
import os
import stat

from .units import Unit, UnitProblem, error_text

LONGEST_TAIL = 16 * 1024
MOST_SEARCHED = 1024**3  # bytes of a log in which warnings are counted
CHUNK = 1024 * 1024
NO_OUTPUT: dict[str, object] = {"output": None, "output_bytes": 0}


class UnitFiles:
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def arguments(self, unit: Unit) -> str:
        return f"{self.folder}/{unit.stem}-args.json"

    def output(self, unit: Unit) -> str:
        return f"{self.folder}/{unit.stem}-metadiff.json"

    def log(self, unit: Unit) -> str:
        return f"{self.folder}/{unit.stem}-log.txt"

    def command_line(self, unit: Unit) -> list[str]:
        return ["--args-json", self.arguments(unit), "--out-json", self.output(unit)]

    def prepare(self, unit: Unit) -> int:
        """As they have to be just before its start; gives the descriptor of its log."""
        path = self.arguments(unit)
        try:
            # A lone surrogate becomes what JSON writes for it.
            write_file(path, unit.args.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise UnitProblem(f"Cannot write {path}: {error_text(error)}.") from error
        path = self.output(unit)
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise UnitProblem(f"Cannot remove {path}, which an earlier run left: {error_text(error)}.") from error
        path = self.log(unit)
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        except OSError as error:
            raise UnitProblem(f"Cannot create {path}: {error_text(error)}.") from error


def write_file(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def remove_file(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def read_log(path: str, has_failed: bool, longest_carried: int | None = None) -> dict[str, object]:
    """The part of an end record that tells about the log, with all of it where it is not longer than that."""
    about: dict[str, object] = {"num_warnings": 0, "log_bytes": 0, "tail": ""}
    try:
        about_file = os.stat(path)
        size = about_file.st_size if stat.S_ISREG(about_file.st_mode) else 0
        if size == 0:
            return about if longest_carried is None else {**about, "log": ""}
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return about
    about["log_bytes"] = size
    try:
        about["num_warnings"] = count_warnings(descriptor, size)
        if has_failed:
            about["tail"] = last_part(descriptor, size, LONGEST_TAIL)
        if longest_carried is not None and size <= longest_carried:
            about.update(as_text(os.pread(descriptor, size, 0)))
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return about


def count_warnings(descriptor: int, size: int) -> int:
    """The lines that contain "warning" in any letter case, in pieces: logs may be huge, lines too, and still grow."""
    count, is_counted, rest = 0, False, b""
    left = min(size, MOST_SEARCHED)
    while True:
        chunk = os.read(descriptor, min(CHUNK, left))
        left -= len(chunk)
        if not chunk:
            return count
        text = rest + chunk.lower()
        place = 0
        while True:
            if is_counted:
                place = text.find(b"\n", place)
                if place < 0:
                    break
                is_counted = False
            place = text.find(b"warning", place)
            if place < 0:
                break
            count, is_counted = count + 1, True
        rest = b"" if is_counted else text[-6:]


def last_part(descriptor: int, size: int, longest: int) -> str:
    part = os.pread(descriptor, longest, max(0, size - longest))
    if size > longest:  # the cut may go through a character
        part = part[:3].lstrip(bytes(range(0x80, 0xC0))) + part[3:]
    return part.decode("utf-8", "replace")


def as_text(content: bytes) -> dict[str, str]:
    try:
        return {"log": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"log64": binascii.b2a_base64(content, newline=False).decode()}


def read_output(path: str, largest: int) -> dict[str, object]:
    """The part of an end record that tells about the output file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return NO_OUTPUT
    except OSError as error:
        return {**NO_OUTPUT, "problem": f"Cannot read {path}: {error_text(error)}."}
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            return {**NO_OUTPUT, "problem": f"Cannot read {path}: it is not a file."}
        size = about.st_size
        content = b""
        if size <= largest:
            content = read_up_to(descriptor, largest)
            size = len(content)
        if size > largest:
            return {"output": None, "output_bytes": size, "output_too_large": True}
        try:
            return {"output": content.decode("utf-8"), "output_bytes": size}
        except UnicodeDecodeError:
            return {"output": None, "output_bytes": size, "output_not_text": True}
    except OSError as error:
        return {**NO_OUTPUT, "problem": f"Cannot read {path}: {error_text(error)}."}
    finally:
        os.close(descriptor)


def read_up_to(descriptor: int, largest: int) -> bytes:
    """All of a file; of one that grows meanwhile, a little more than the largest."""
    content = b""
    while len(content) <= largest:
        part = os.read(descriptor, CHUNK)
        if not part:
            break
        content += part
    return content
