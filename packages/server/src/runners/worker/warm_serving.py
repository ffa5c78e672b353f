"""The second part of the warm program: what it is asked for, by a worker or by the warm parent.

It is written behind warm_program.py, into the same file.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
    from types import CodeType, ModuleType, TracebackType
    from typing import Any, Callable, NoReturn

    from .warm_program import (
        AT_START,
        can_write,
        content_of,
        fork_quietly,
        freeze,
        import_head,
        is_path_safe,
        new_seeds,
        set_arguments,
        start_ticks_of,
        thaw,
        what_forbids_forking,
    )
else:
    import _signal


def say_to(descriptor: int, *parts: object) -> None:
    os.write(descriptor, "\0".join(str(part) for part in parts).encode("utf-8", "surrogateescape"))


def refuse(orders: int, why: str) -> "NoReturn":
    try:
        say_to(orders, "refused", why)
    finally:
        os._exit(0)


def serve_forks(orders: int, head: bytes, command: "list[str]", is_reaper: bool = False) -> None:
    """Forks a process per order. Returns in these processes only, when they are ready to run the script.

    `head` is what the imports printed, which each of them prints again.
    """
    import select

    def reap() -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in running:
                say_to(orders, "end", running.pop(pid), status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)

    running: dict[int, str] = {}  # pid -> number of the unit
    wakeup = os.pipe()
    for descriptor in wakeup:
        os.set_blocking(descriptor, False)
    earlier_handler = _signal.signal(_signal.SIGCHLD, lambda *_: None)
    earlier_wakeup = _signal.set_wakeup_fd(wakeup[1], warn_on_full_buffer=False)
    say_to(orders, "ready", os.getpid(), start_ticks_of(os.getpid()), int(is_reaper))
    while True:
        ready = select.select([orders, wakeup[0]], [], [])[0]
        if wakeup[0] in ready:
            os.read(wakeup[0], 4096)
        reap()
        if orders not in ready:
            continue
        message = os.read(orders, 65536).decode("utf-8", "surrogateescape")
        if not message:
            os._exit(0)
        number, cpus, log_path, *arguments = message.split("\0")
        try:
            log = os.open(log_path, os.O_WRONLY)
            pid = fork_quietly()
        except OSError as error:
            say_to(orders, "problem", number, f"Cannot start the unit: {error}.")
            continue
        if pid:
            os.close(log)
            running[pid] = number
            say_to(orders, "pid", number, pid, start_ticks_of(pid))
            continue
        os.setsid()
        if cpus:
            try:
                os.sched_setaffinity(0, [int(cpu) for cpu in cpus.split(",")])
            except (AttributeError, OSError):  # another interpreter, or a CPU that was taken away
                pass
        _signal.set_wakeup_fd(earlier_wakeup)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL if earlier_handler is None else earlier_handler)
        # What waits in the buffers of sys.stdout is not in `head`: it comes where a plain run would write it.
        while head:
            head = head[os.write(log, head) :]
        os.dup2(log, 1)
        os.dup2(log, 2)
        for descriptor in (log, orders, *wakeup):
            os.close(descriptor)
        set_arguments(command, arguments)
        new_seeds()
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGTERM])
        return


def serve_forks_or_refuse(orders: int, head: bytes, command: "list[str]", is_reaper: bool = False) -> None:
    warm_process = os.getpid()
    try:
        serve_forks(orders, head, command, is_reaper)
    except BaseException as error:
        if os.getpid() == warm_process:
            refuse(orders, f"it failed with {type(error).__name__}: {error}")
        raise


def begin() -> None:
    import atexit

    # A scheduler's signal to stop goes to all processes of a job: this one is needed to tell how the units ended.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGTERM])
    atexit.register(thaw)  # the first to be registered is the last to be called


def import_and_check(orders: int, script: str, main: "ModuleType") -> "tuple[CodeType | None, str]":
    """The script, compiled, or why no copies can be made of this process."""
    try:
        code = import_head(script, main)
    except BaseException as error:
        return None, f"the imports ended with {type(error).__name__}: {error}"
    why = what_forbids_forking(orders)
    if why:
        return None, why
    freeze()
    return code, ""


def serve(orders: int, printed: str, interpreter: str, script: str, *arguments: str) -> "CodeType":
    """Returns the script, compiled, in the process of a unit. The warm process itself does not return."""
    begin()
    os.set_inheritable(orders, False)
    command = [interpreter, script]
    set_arguments(command, arguments)
    code, why = import_and_check(orders, script, type(sys)("__main__"))
    if code is None:
        refuse(orders, why)
    serve_forks_or_refuse(orders, content_of(printed), command)
    return code


# A tree that lasts


def wait_for_request(asked: int) -> "tuple[list[str], int]":
    """Forks for each request. Returns in the new process only: the request, and the socket that it is asked through."""
    import _socket

    connection = _socket.socket(fileno=asked)
    earlier_handler = _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # nobody asks how they ended
    while True:
        message, rights, *_ = connection.recvmsg(65536, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC)
        if not message:
            os._exit(0)
        if not rights:
            continue
        descriptor = int.from_bytes(rights[0][2][:4], sys.byteorder)
        try:
            pid = fork_quietly()
        except OSError as error:
            say_to(descriptor, "refused", f"it cannot be copied: {error}")
            os.close(descriptor)
            continue
        if pid:
            os.close(descriptor)
            continue
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL if earlier_handler is None else earlier_handler)
        connection.close()
        return message.decode("utf-8", "surrogateescape").split("\0"), descriptor


def print_to(path: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def file_of(module: "Any") -> "str | None":
    """Without asking a module for an attribute: some import more when they are asked."""
    try:
        file = object.__getattribute__(module, "__dict__").get("__file__")
    except (AttributeError, TypeError):
        return None
    return file if isinstance(file, str) else None


def import_shared(asked: int, printed: str, names: "list[str]") -> None:
    """What several scripts import. None of them may notice, so it has to be silent."""
    try:
        for name in names:
            __import__(name)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:
        refuse(asked, f"the imports ended with {type(error).__name__}: {error}")
    why = what_forbids_forking(asked)
    if why or os.stat(printed).st_size or can_write("/"):
        refuse(asked, why or "the imports print or write")
    freeze()
    say_to(asked, "ready")


def hidden_beside(script: str) -> "str | None":
    """A module that is here already, and that a plain run would find beside the script instead."""
    if is_path_safe():
        return None
    folder = os.path.dirname(os.path.realpath(script))
    beside = {entry.partition(".")[0] for entry in os.listdir(folder)}
    for name, module in list(sys.modules.items()):
        if name not in beside or name in AT_START or name in sys.builtin_module_names:
            continue
        file = file_of(module) or ""
        if folder not in (os.path.dirname(file), os.path.dirname(os.path.dirname(file))):
            return name
    return None


def import_for_script(asked: int, printed: str, command: "list[str]", main: "ModuleType") -> "CodeType":
    hidden = hidden_beside(command[1])
    if hidden:
        say_to(asked, "apart", f"its folder has another module {hidden}")
        os._exit(0)
    code, why = import_and_check(asked, command[1], main)
    files = {file for file in map(file_of, list(sys.modules.values())) if file}
    files.update(folder for folder in sys.path if isinstance(folder, str) and os.path.isabs(folder))
    with open(f"{printed}.files", "wb") as file:
        file.write("\0".join(sorted(files)).encode("utf-8", "surrogateescape"))
    if code is None:
        refuse(asked, why)
    if can_write("/"):
        say_to(asked, "own", "the imports left a file open")
        os._exit(0)
    say_to(asked, "ready")
    return code


def grow(asked: int) -> "Any":
    """The root of the tree and all below it. Returns the script, compiled, in the process of a unit."""
    import select  # noqa: F401  # in each of them later, when the folder of a script is where modules are looked for

    os.set_inheritable(asked, False)
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except Exception:  # a Python without ctypes
        prctl = None
    begin()
    main = type(sys)("__main__")
    sys.modules["__main__"] = main  # modules may keep it: it is the same for all that share them
    head, command = b"", [""]
    code = None
    while True:
        (kind, *words), asked = wait_for_request(asked)
        if kind == "batch" and code is not None:
            os.setsid()
            PR_SET_CHILD_SUBREAPER = 36  # what units leave behind stays below the process of their batch
            is_reaper = prctl is not None and prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
            serve_forks_or_refuse(asked, head, command, is_reaper)
            return code
        try:
            printed, interpreter, script, *words = words
            command = [interpreter, script]
            print_to(printed)
            if kind == "shared":
                set_arguments(command, ["--args-json", "", "--out-json", ""])
                import_shared(asked, printed, words)
            else:
                set_arguments(command, words)
                code = import_for_script(asked, printed, command, main)
                head = content_of(printed)
        except OSError as error:
            refuse(asked, f"it failed with {type(error).__name__}: {error}")


def frames_of(code: "CodeType", hook: "Callable[..., object]") -> "Callable[..., object]":
    """An exception hook that shows the frames of the script and what it called, as a plain run does."""

    def show(kind: "type[BaseException]", value: BaseException, trace: "TracebackType | None") -> None:
        while trace is not None and trace.tb_frame.f_code is not code:
            trace = trace.tb_next
        value.__traceback__ = trace
        hook(kind, value, trace)

    return show


if __name__ == "__main__":
    CODE = serve(int(sys.argv[1]), *sys.argv[2:]) if len(sys.argv) > 2 else grow(int(sys.argv[1]))
    # Here, in no function: the script leaves through the end of the interpreter, with all that belongs to it.
    try:
        exec(CODE, sys.modules["__main__"].__dict__)
    except BaseException:
        sys.excepthook = frames_of(CODE, sys.excepthook)
        raise
