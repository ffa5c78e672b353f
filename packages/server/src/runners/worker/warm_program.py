"""Imports once what a script imports first, and forks for each unit a process that runs the script.

    python warm.py <descriptor of a socket> <file with what the imports print> <interpreter> <script> <arguments>
    python warm.py <descriptor of a socket>

The first serves one worker and one script. The second is the root of a tree that lasts (warm_parent.py asks): below it
are processes that have imported what several scripts share, below those one for each script, which forks one for each
batch, which forks the units. What a process has imported is never seen by those beside it.

A program of its own, which the worker writes to one file: this part, which imports and looks at what that has done,
and warm_serving.py, what it is asked for. It runs under the interpreter of the task, whose modules may have any name,
so it takes only modules that are part of the interpreter itself, and nothing of the worker. It is as small as it can
be: each unit copies and clears what is in memory.
"""

FRESH = dict(globals())  # what __main__ holds before the first line of a program

import os  # noqa: E402
import sys  # noqa: E402

AT_START = frozenset(sys.modules)  # any program finds these imported

TYPE_CHECKING = False  # as in the module typing, which would be in the memory of each unit
if TYPE_CHECKING:
    import ast
    from types import CodeType, ModuleType
    from typing import Any

START_TICKS = 19  # starttime of proc(5), counted from behind the name of the program


def start_ticks_of(pid: int) -> str:
    """Of /proc/<pid>/stat. The name of the program may hold anything, so that fields are counted from behind it."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, 4096)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return text[text.rindex(b")") + 2 :].split()[START_TICKS].decode()


def is_harmless(node: "Any") -> bool:
    """Whether evaluating the expression does nothing but give a value."""
    kinds = ("Constant", "Name", "Attribute", "Tuple", "List", "Set", "Dict", "UnaryOp", "BinOp", "BoolOp", "JoinedStr")
    if node is None:
        return True
    if type(node).__name__ not in kinds:
        return False
    for field in node._fields:
        value = getattr(node, field)
        parts = value if isinstance(value, list) else [value]
        if not all(is_harmless(part) for part in parts if hasattr(part, "lineno") or part is None):
            return False
    return True


def changes_nothing(node: "Any") -> bool:
    """Whether a statement between imports changes nothing that a later import could see."""
    kind = type(node).__name__
    if kind == "Pass":
        return True
    if kind == "Expr":
        return type(node.value).__name__ == "Constant"
    if kind == "Assign":
        return all(type(target).__name__ == "Name" for target in node.targets) and is_harmless(node.value)
    if kind == "AnnAssign":
        return type(node.target).__name__ == "Name" and is_harmless(node.annotation) and is_harmless(node.value)
    if kind in ("FunctionDef", "AsyncFunctionDef"):
        arguments = node.args
        named = [*getattr(arguments, "posonlyargs", []), *arguments.args, *arguments.kwonlyargs]
        notes = [one.annotation for one in [*named, arguments.vararg, arguments.kwarg] if one]
        evaluated = [*arguments.defaults, *arguments.kw_defaults, *notes, node.returns]
        return not node.decorator_list and all(is_harmless(one) for one in evaluated)
    if kind == "ClassDef":
        plain = not node.decorator_list and not node.keywords and all(is_harmless(base) for base in node.bases)
        return plain and all(changes_nothing(one) for one in node.body)
    return False


def imports_at_head(tree: "ast.Module") -> "list[ast.stmt]":
    """The imports before the first statement that may change what a later import finds."""
    found = []
    for node in tree.body:
        if type(node).__name__ in ("Import", "ImportFrom"):
            found.append(node)
        elif not changes_nothing(node):
            break
    return found


def open_device_or_connection(own: int) -> "str | None":
    """What a copy of this process could not use, though it would seem to have it."""
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:  # the listing's own
            continue
        if target.startswith(("/dev/nvidia", "/dev/kfd", "/dev/dri/")):
            return "the imports opened a GPU"
        if target.startswith("socket:") and int(name) != own:
            return "the imports left a connection open"
    return None


def what_forbids_forking(own: int) -> "str | None":
    """`own` is the descriptor that the process is asked through."""
    import gc

    if len(sys._current_frames()) > 1:
        return "the imports left threads behind"
    try:
        os.waitpid(-1, os.WNOHANG)
        return "the imports left processes behind"
    except ChildProcessError:
        pass
    locks = sys.modules.get("multiprocessing.synchronize")
    if locks and any(issubclass(type(one), locks.SemLock) for one in gc.get_objects()):
        return "the imports made locks that processes share"
    return open_device_or_connection(own)


def is_path_safe() -> bool:
    """Whether Python looks for modules only where they are installed, not beside the script."""
    return bool(getattr(sys.flags, "safe_path", False))


def import_head(script: str, main: "ModuleType") -> "CodeType":
    """Imports what the script imports first, as the script would, which is `main`. Gives the script, compiled."""
    with open(script, "rb") as file:
        source = file.read()
    only_tree = 0x400
    tree = compile(source, script, "exec", only_tree, True)
    code = compile(source, script, "exec", 0, True)
    tree.body = imports_at_head(tree)
    fresh = dict(FRESH)
    fresh.update(__file__=script, __doc__=None)
    if fresh.get("__loader__") is not None:
        fresh["__loader__"] = type(fresh["__loader__"])("__main__", script)
    if "__annotations__" in fresh:
        fresh["__annotations__"] = {}
    main.__dict__.clear()
    main.__dict__.update(fresh)
    sys.modules["__main__"] = main
    if not is_path_safe():
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    exec(compile(tree, script, "exec", 0, True), main.__dict__)
    # Modules may have kept __main__ itself: it stays, only the imported names go.
    fresh.update((name, value) for name, value in main.__dict__.items() if name == "__warningregistry__")
    main.__dict__.clear()
    main.__dict__.update(fresh)
    return code


def set_arguments(command: "list[str]", arguments: "list[str] | tuple[str, ...]") -> None:
    sys.argv[:] = [command[1], *arguments]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [*command, *arguments]


def fork_quietly() -> int:
    """Python 3.12 warns about threads that libraries started; the filters must look untouched to the script."""
    warnings = sys.modules.get("warnings")
    if warnings is None:
        return os.fork()
    warnings.filters.insert(0, ("ignore", None, DeprecationWarning, None, 0))
    try:
        return os.fork()
    finally:
        del warnings.filters[0]


def waits_to_be_written(one: "Any") -> bool:
    import _io

    try:
        return issubclass(type(one), (_io.BufferedWriter, _io.BufferedRandom)) and one.fileno() > 2
    except (OSError, ValueError):  # closed, or a file of another kind
        return False


def content_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


IMPORTED: "dict[str, ModuleType]" = {}  # the modules of a process that was frozen


def can_write(*kinds: str) -> bool:
    """Whether something of these kinds is open for writing, beyond the streams that any process has."""
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
            flags = content_of(f"/proc/self/fdinfo/{name}").partition(b"flags:")[2].split()[0]
        except OSError:  # the listing's own
            continue
        is_meant = int(name) > 2 and target != "/dev/null" and target.startswith(kinds)
        if is_meant and int(flags, 8) & (os.O_WRONLY | os.O_RDWR):
            return True
    return False


def freeze() -> None:
    """The collector of a unit shall not touch, and so not copy, what was imported.

    Files that the imports left open are written when the collector ends them, so then it has to see everything.
    """
    import gc

    if hasattr(gc, "freeze") and not any(waits_to_be_written(one) for one in gc.get_objects()):
        gc.freeze()
        IMPORTED.update(sys.modules)


def keep_imports() -> None:
    """Python takes all modules apart when it ends, and a unit would copy all of their memory for it.

    Those that were imported before are hidden from that, with a reference that stays: what the unit made goes as ever.
    """
    import gc

    kept: list[object] = [IMPORTED]
    later = [name for name in IMPORTED if name in sys.modules and name not in AT_START and name != "__main__"]
    kept += [sys.modules.pop(name) for name in later]
    kept.append(kept)
    gc.freeze()


GENERATOR = type(letter for letter in "")


def wants_an_end(one: "Any") -> bool:
    """Whether something may happen when an object of such a kind goes: a file is written, a `finally` runs."""
    import _io

    kind = type(one)
    if kind is GENERATOR:
        frame = one.gi_frame
        return frame is not None and getattr(one, "gi_suspended", frame.f_lasti >= 0)
    try:
        files = (_io.FileIO, _io.BufferedReader, _io.BufferedWriter, _io.BufferedRandom, _io.TextIOWrapper)
        return not (kind in files and one.closed)
    except ValueError:  # a file that was taken apart
        return True


def thaw() -> None:
    """A unit that leaves something that wants to be ended (an open file) pays for a look at all that was imported.

    It is the last of the functions at exit: before, pools of threads still wait for their end.
    """
    import gc

    if not hasattr(gc, "unfreeze"):
        return
    left = gc.get_objects()
    kinds = {
        kind
        for kind in set(map(type, left))
        if hasattr(kind, "__del__") or kind.__name__ in ("generator", "async_generator", "coroutine")
    }
    is_anything_open = len(sys._current_frames()) > 1 or can_write("/", "pipe:", "socket:")
    if is_anything_open or any(wants_an_end(one) for one in left if type(one) in kinds):
        gc.unfreeze()
    else:
        keep_imports()


def new_seeds() -> None:
    """`random` does it by itself after a fork."""
    numpy = sys.modules.get("numpy.random")
    if numpy:
        numpy.seed()
