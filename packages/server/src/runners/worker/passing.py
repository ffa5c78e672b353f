"""Messages between the worker, the warm parent and its tree: packets of words between NULs, with a socket at times."""

from __future__ import annotations

import array
import os
import socket
import struct
from typing import NamedTuple

LONGEST_MESSAGE = 65536
SOCKET = "socket"  # the name in the folder of a warm parent


class Packet(NamedTuple):
    words: list[str]  # empty at the end of a connection
    descriptor: int | None


def socket_pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(to: socket.socket, *words: str, descriptor: int | None = None) -> bool:
    """False when it cannot be heard."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))] if descriptor is not None else []
    try:
        to.sendmsg(["\0".join(words).encode("utf-8", "surrogateescape")], rights)
    except OSError:
        return False
    return True


def receive(source: socket.socket) -> Packet:
    """Without a descriptor that others must not have; raises BlockingIOError when there is nothing."""
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    try:
        message, rights, *_ = source.recvmsg(LONGEST_MESSAGE, socket.CMSG_SPACE(16), flags)
    except BlockingIOError:
        raise
    except OSError:
        message, rights = b"", []
    descriptors = array.array("i")
    for level, kind, content in rights:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    for further in descriptors[1:]:
        os.close(further)
    words = message.decode("utf-8", "surrogateescape").split("\0") if message else []
    return Packet(words, descriptors[0] if descriptors else None)


def is_own_account(peer: socket.socket) -> bool:
    credentials = struct.Struct("3i")
    _, uid, _ = credentials.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size))
    return bool(uid == os.getuid())


def address_in(folder: int) -> str:
    """Of the socket in an open folder: the path of a socket must be short, and those of folders may be long."""
    return f"/proc/self/fd/{folder}/{SOCKET}"


def open_folder(folder: str) -> int:
    """Only one that nobody else can enter but the service, which shares it with the group of this account."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    about = os.fstat(descriptor)
    is_own = about.st_uid == os.getuid() and not about.st_mode & 0o077
    is_shared = about.st_uid != os.getuid() and about.st_gid == os.getgid() and not about.st_mode & 0o007
    if not is_own and not is_shared:
        os.close(descriptor)
        raise PermissionError(f"{folder} is open to other accounts")
    return descriptor


def listen_in(folder: str) -> socket.socket:
    descriptor = open_folder(folder)
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            os.unlink(f"{folder}/{SOCKET}")
        except FileNotFoundError:
            pass
        listener.bind(address_in(descriptor))
        listener.listen(128)
        listener.setblocking(False)
        return listener
    finally:
        os.close(descriptor)


def connect_in(folder: str) -> socket.socket:
    """Raises OSError where nobody listens, or somebody else does."""
    descriptor = open_folder(folder)
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.setblocking(False)
        try:
            connection.connect(address_in(descriptor))
            if not is_own_account(connection):
                raise PermissionError("another account listens")
        except BaseException:
            connection.close()
            raise
        return connection
    finally:
        os.close(descriptor)
