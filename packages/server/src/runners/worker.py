"""Runs the units of one batch, each in a process of its own, and keeps a journal of what happened.

    python3 -I -S worker.py <batch folder>
    python3 -I -S worker.py --pack <inputs> <outputs> <round> <pack> [--nodes]
    python3 -I -S worker.py --follow [<outputs>]

The first runs a batch beside the service: the folder holds batch.json, units.jsonl and control.json, written by the
service, and journal.jsonl, written here. The worker needs nobody: the service may stop, come back later and read the
journal. The second runs a pack, the part of a batch that one job of a scheduler has; its journal holds all that the
service wants to know. The third prints what is new in the journals of packs. Standard library only, Python 3.9, and one
file, since it travels to clusters.

The first part of this file is a program of its own: it imports once what a script imports and forks a process per unit.
It runs under the interpreter of the task, whose modules may have any name, so it takes only modules that are part of
the interpreter itself. The worker gives it only this part, since each unit copies and clears what is in memory.
"""

FRESH = dict(globals())  # what __main__ holds before the first line of a program

import os  # noqa: E402
import sys  # noqa: E402

WARM = sys.argv[1:2] == ['--warm']


def process_stat(pid):
    """State, parent, group, session, start ticks and pages in memory, or None when there is no such process."""
    try:
        descriptor = os.open('/proc/%d/stat' % pid, os.O_RDONLY)
    except OSError:
        return None
    try:
        text = os.read(descriptor, 4096)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    fields = text[text.rindex(b')') + 2 :].split()
    return fields[0], int(fields[1]), int(fields[2]), int(fields[3]), fields[19].decode(), int(fields[21])


# The warm process


def harmless(node):
    """Whether evaluating the expression does nothing but give a value."""
    kinds = ('Constant', 'Name', 'Attribute', 'Tuple', 'List', 'Set', 'Dict', 'UnaryOp', 'BinOp', 'BoolOp', 'JoinedStr')
    if node is None:
        return True
    if type(node).__name__ not in kinds:
        return False
    for field in node._fields:
        value = getattr(node, field)
        parts = value if isinstance(value, list) else [value]
        if not all(harmless(part) for part in parts if hasattr(part, 'lineno') or part is None):
            return False
    return True


def passed_over(node):
    """Whether a statement between imports changes nothing that a later import could see."""
    kind = type(node).__name__
    if kind == 'Pass':
        return True
    if kind == 'Expr':
        return type(node.value).__name__ == 'Constant'
    if kind == 'Assign':
        return all(type(target).__name__ == 'Name' for target in node.targets) and harmless(node.value)
    if kind == 'AnnAssign':
        return type(node.target).__name__ == 'Name' and harmless(node.annotation) and harmless(node.value)
    if kind in ('FunctionDef', 'AsyncFunctionDef'):
        arguments = node.args
        named = [*getattr(arguments, 'posonlyargs', []), *arguments.args, *arguments.kwonlyargs]
        notes = [one.annotation for one in [*named, arguments.vararg, arguments.kwarg] if one]
        evaluated = [*arguments.defaults, *arguments.kw_defaults, *notes, node.returns]
        return not node.decorator_list and all(harmless(one) for one in evaluated)
    if kind == 'ClassDef':
        plain = not node.decorator_list and not node.keywords and all(harmless(base) for base in node.bases)
        return plain and all(passed_over(one) for one in node.body)
    return False


def imports_at_head(tree):
    found = []
    for node in tree.body:
        if type(node).__name__ in ('Import', 'ImportFrom'):
            found.append(node)
        elif not passed_over(node):
            break
    return found


def what_forbids_forking():
    import gc

    if len(sys._current_frames()) > 1:
        return 'the imports left threads behind'
    try:
        os.waitpid(-1, os.WNOHANG)
        return 'the imports left processes behind'
    except ChildProcessError:
        pass
    locks = sys.modules.get('multiprocessing.synchronize')
    if locks and any(issubclass(type(one), locks.SemLock) for one in gc.get_objects()):
        return 'the imports made locks that processes share'
    return None


def import_head(script):
    """Imports what the script imports first, as the script would. Gives the script, compiled."""
    with open(script, 'rb') as file:
        source = file.read()
    only_tree = 0x400
    tree = compile(source, script, 'exec', only_tree, True)
    code = compile(source, script, 'exec', 0, True)
    tree.body = imports_at_head(tree)
    main = type(sys)('__main__')
    fresh = dict(FRESH)
    fresh.update(__file__=script, __doc__=None)
    if fresh.get('__loader__') is not None:
        fresh['__loader__'] = type(fresh['__loader__'])('__main__', script)
    if '__annotations__' in fresh:
        fresh['__annotations__'] = {}
    main.__dict__.clear()
    main.__dict__.update(fresh)
    sys.modules['__main__'] = main
    if not getattr(sys.flags, 'safe_path', False):
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    exec(compile(tree, script, 'exec', 0, True), main.__dict__)
    # Modules may have kept __main__ itself: it stays, only the imported names go.
    fresh.update((name, value) for name, value in main.__dict__.items() if name == '__warningregistry__')
    main.__dict__.clear()
    main.__dict__.update(fresh)
    return code


def set_arguments(command, arguments):
    sys.argv[:] = [command[1], *arguments]
    if hasattr(sys, 'orig_argv'):
        sys.orig_argv[:] = [*command, *arguments]


def fork_quietly():
    """Python 3.12 warns about threads that libraries started; the filters must look untouched to the script."""
    warnings = sys.modules.get('warnings')
    if warnings is None:
        return os.fork()
    warnings.filters.insert(0, ('ignore', None, DeprecationWarning, None, 0))
    try:
        return os.fork()
    finally:
        del warnings.filters[0]


def waits_to_be_written(one):
    import _io

    try:
        return issubclass(type(one), (_io.BufferedWriter, _io.BufferedRandom)) and one.fileno() > 2
    except (OSError, ValueError):  # closed, or a file of another kind
        return False


def freeze():
    """The collector of a unit shall not touch, and so not copy, what was imported.

    Files that the imports left open are written when the collector ends them, so then it has to see everything.
    """
    import gc

    if hasattr(gc, 'freeze') and not any(waits_to_be_written(one) for one in gc.get_objects()):
        gc.freeze()


GENERATOR = type(number for number in ())


def wants_an_end(one):
    """Whether something may happen when an object of such a kind goes: a file is written, a `finally` runs."""
    import _io

    kind = type(one)
    if kind is GENERATOR:
        frame = one.gi_frame
        return frame is not None and getattr(one, 'gi_suspended', frame.f_lasti >= 0)
    try:
        files = (_io.FileIO, _io.BufferedReader, _io.BufferedWriter, _io.BufferedRandom, _io.TextIOWrapper)
        return not (kind in files and one.closed)
    except ValueError:  # a file that was taken apart
        return True


def thaw():
    """A unit that leaves something that wants to be ended (an open file) pays for a look at all that was imported.

    It is the last of the functions at exit: before, pools of threads still wait for their end.
    """
    import gc

    if not hasattr(gc, 'unfreeze'):
        return
    left = gc.get_objects()
    kinds = {
        kind
        for kind in set(map(type, left))
        if hasattr(kind, '__del__') or kind.__name__ in ('generator', 'async_generator', 'coroutine')
    }
    if len(sys._current_frames()) > 1 or any([wants_an_end(one) for one in left if type(one) in kinds]):
        gc.unfreeze()


def new_seeds():
    """`random` does it by itself after a fork."""
    numpy = sys.modules.get('numpy.random')
    if numpy:
        numpy.seed()


def serve_forks(orders, prelude, command):
    """Forks a process per order. Returns in these processes only, when they are ready to run the script."""
    import _signal
    import select

    def say(*parts):
        os.write(orders, '\0'.join(str(part) for part in parts).encode('utf-8', 'surrogateescape'))

    def reap():
        while running:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid in running:
                say('end', running.pop(pid), status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)

    running = {}  # pid -> number of the unit
    with open(prelude, 'rb') as file:
        head = file.read()
    wakeup = os.pipe()
    for descriptor in wakeup:
        os.set_blocking(descriptor, False)
    earlier_handler = _signal.signal(_signal.SIGCHLD, lambda *_: None)
    earlier_wakeup = _signal.set_wakeup_fd(wakeup[1], warn_on_full_buffer=False)
    freeze()
    say('ready')
    while True:
        ready = select.select([orders, wakeup[0]], [], [])[0]
        if wakeup[0] in ready:
            os.read(wakeup[0], 4096)
        reap()
        if orders not in ready:
            continue
        message = os.read(orders, 65536).decode('utf-8', 'surrogateescape')
        if not message:
            os._exit(0)
        number, cpus, log, *arguments = message.split('\0')
        try:
            log = os.open(log, os.O_WRONLY)
            pid = fork_quietly()
        except OSError as error:
            say('problem', number, 'Cannot start the unit: %s.' % error)
            continue
        if pid:
            os.close(log)
            running[pid] = number
            entry = process_stat(pid)
            say('pid', number, pid, entry[4] if entry else '')
            continue
        os.setsid()
        if cpus:
            try:
                os.sched_setaffinity(0, [int(cpu) for cpu in cpus.split(',')])
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


def warm_main(orders, prelude, interpreter, script, *arguments):
    """Returns the script, compiled, in the process of a unit. The warm process itself does not return."""

    def refuse(why):
        try:
            os.write(orders, b'refused\0' + why.encode('utf-8', 'replace'))
        finally:
            os._exit(0)

    import _signal
    import atexit

    # A scheduler's signal to stop goes to all processes of a job: this one is needed to tell how the units ended.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGTERM])
    atexit.register(thaw)  # the first to be registered is the last to be called
    os.set_inheritable(orders, False)
    command = [interpreter, script]
    set_arguments(command, arguments)
    try:
        code = import_head(script)
    except BaseException as error:
        refuse('the imports ended with %s: %s' % (type(error).__name__, error))
    why = what_forbids_forking()
    if why:
        refuse(why)
    warm_process = os.getpid()
    try:
        serve_forks(orders, prelude, command)
    except BaseException as error:
        if os.getpid() == warm_process:
            refuse('it failed with %s: %s' % (type(error).__name__, error))
        raise
    return code


def frames_of(code, hook):
    """An exception hook that shows the frames of the script and what it called, as a plain run does."""

    def show(kind, value, trace):
        while trace is not None and trace.tb_frame.f_code is not code:
            trace = trace.tb_next
        value.__traceback__ = trace
        hook(kind, value, trace)

    return show


if WARM:
    CODE = warm_main(int(sys.argv[2]), *sys.argv[3:])
    # Here, in no function: the script leaves through the end of the interpreter, with all that belongs to it.
    try:
        exec(CODE, sys.modules['__main__'].__dict__)
    except BaseException:
        sys.excepthook = frames_of(CODE, sys.excepthook)
        raise

# Here ends what the warm process runs.

import binascii  # noqa: E402
import errno  # noqa: E402
import fcntl  # noqa: E402
import json  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import stat  # noqa: E402
import time  # noqa: E402

DEFAULT_SIGNALS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})

GRACE = 5.0  # seconds between "please end" and "end"
PATIENCE = 30.0  # seconds after which a process that cannot be killed (dead file server) is given up
TAIL = 16 * 1024
LONGEST_WORDS = 256 * 1024
MOST_COUNTED = 1024 ** 3  # bytes of a log in which warnings are counted
LONGEST_RECORD = 256 * 1024 * 1024
CHUNK = 1024 * 1024
PAGE = os.sysconf('SC_PAGE_SIZE')
FRESHENED = 50  # files about which a file server is asked at a time
MOMENT = 0.5  # seconds in which a signal reaches all processes of a job


# The journal


class Journal:
    """Appends records; each flush is one write. What a full disk refuses is kept and tried again every second.

    A durable journal is read through a file server: once a second it has to be there as well. A server that is full may
    say so only then; what it dropped is written again.
    """

    def __init__(self, path, torn, durable=False):
        self.path = path
        self.descriptor = None
        self.lines = []
        self.rest = b'\n' if torn else b''
        self.urgent = False
        self.next_try = 0.0
        self.durable = durable
        self.safe = 0  # bytes that are certainly there
        self.unsafe = []
        self.dropped = False
        self.next_sync = 0.0

    def add(self, record, urgent=True):
        self.lines.append(json.dumps(record))
        self.urgent = self.urgent or urgent

    def flush(self, last=False):
        """True when everything is in the file."""
        if self.lines:
            self.rest += ('\n'.join(self.lines) + '\n').encode()
            self.lines = []
        self.urgent = False
        if self.rest and time.monotonic() >= self.next_try:
            try:
                self.write()
            except OSError:
                self.next_try = time.monotonic() + 1
        if self.unsafe and (last or time.monotonic() >= self.next_sync):
            self.sync()
        return not self.rest and not (last and self.unsafe)

    def write(self):
        if self.descriptor is None:
            self.descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self.safe = os.fstat(self.descriptor).st_size
        if self.dropped:
            os.ftruncate(self.descriptor, self.safe)
            self.dropped = False
        while self.rest:
            size = os.write(self.descriptor, self.rest)
            if self.durable:
                self.unsafe.append(self.rest[:size])
            self.rest = self.rest[size:]

    def sync(self):
        try:
            os.fsync(self.descriptor)
            self.safe += sum(map(len, self.unsafe))
        except OSError:
            self.rest = b''.join(self.unsafe) + self.rest
            self.dropped = True
            self.next_try = time.monotonic() + 1
        self.unsafe = []
        self.next_sync = time.monotonic() + 1


class Unit:
    __slots__ = ('number', 'stem', 'args', 'pid', 'ticks', 'stopped', 'orphan', 'over_memory', 'cpus')

    def __init__(self, number, stem, args):
        self.number, self.stem, self.args = number, stem, args
        self.pid = self.ticks = self.cpus = None
        self.stopped = self.orphan = self.over_memory = False


class Problem(Exception):
    """A unit that cannot be started; the text is for the user."""


def words(error):
    return error.strerror or str(error)


# Processes


def process_table():
    found = ((int(name), process_stat(int(name))) for name in os.listdir('/proc') if name.isdigit())
    return {pid: entry for pid, entry in found if entry is not None}


def is_alive(pid, ticks):
    entry = process_stat(pid)
    return entry is not None and entry[4] == ticks and entry[0] not in b'ZX'


def children_of(pid):
    found = []
    try:
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/children' % (pid, task)) as file:
                found += [int(child) for child in file.read().split()]
    except OSError:  # it ended meanwhile
        pass
    return found


def own_table():
    """The worker and everything below it. All processes of a large machine would be too much every second."""
    if not os.path.exists('/proc/self/task/%d/children' % os.getpid()):
        table = process_table()
        mine = descendants(table, [os.getpid()]) | {os.getpid()}
        return {pid: table[pid] for pid in mine if pid in table}
    table, todo = {}, [os.getpid()]
    while todo:
        pid = todo.pop()
        entry = process_stat(pid)
        if entry is not None and pid not in table:
            table[pid] = entry
            todo += children_of(pid)
    return table


def descendants(table, roots):
    """The processes below `roots`, without them."""
    children = {}
    for pid, entry in table.items():
        children.setdefault(entry[1], []).append(pid)
    found, todo = set(), list(roots)
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    return found - set(roots)


def writers(table, logs):
    """{log: [pids]} of the processes whose standard output or error is one of `logs`."""
    found = {}
    for pid in table:
        for name in ('1', '2'):
            try:
                target = os.readlink('/proc/%d/fd/%s' % (pid, name))
            except OSError:
                continue
            if target in logs and pid != os.getpid():
                found.setdefault(target, []).append(pid)
                break
    return found


def processes_of(table, unit):
    session = {pid for pid, entry in table.items() if entry[3] == unit.pid}
    return session | descendants(table, [unit.pid])


def ended_by(status, number):
    """By the signal, or as shells and containers tell that it ended what they ran."""
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == number
    return os.WEXITSTATUS(status) == 128 + number


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def send_group(pid, number):
    try:
        os.killpg(pid, number)
    except OSError:
        pass


def become_subreaper():
    """Processes that lose their parent become children of the worker, so none gets out of sight."""
    try:
        import ctypes

        return ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
    except Exception:
        return False


def boot_id():
    try:
        with open('/proc/sys/kernel/random/boot_id') as file:
            return file.read().strip()
    except OSError:
        return ''


def original_environment():
    """As the worker was started: Python itself may have changed LC_CTYPE since."""
    try:
        with open('/proc/self/environ', 'rb') as file:
            pairs = [pair.split(b'=', 1) for pair in file.read().split(b'\0') if b'=' in pair[1:]]
            return {name: value for name, value in pairs if name}
    except OSError:
        return dict(os.environb)


def find_program(name, environment):
    if '/' in name:
        places = [name]
    else:
        path = os.fsdecode(environment.get(b'PATH', os.fsencode(os.defpath)))
        places = [os.path.join(folder or '.', name) for folder in path.split(os.pathsep)]
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    return None


def spawn(program, argv, environment, actions):
    options = {'file_actions': actions, 'setsigmask': [], 'setsigdef': DEFAULT_SIGNALS}
    try:
        return os.posix_spawn(program, argv, environment, setsid=True, **options)
    except NotImplementedError:  # C libraries before 2018
        return os.posix_spawn(program, argv, environment, setpgroup=0, **options)


# Memory


def oom_files():
    """The files that count what the kernel killed for lack of memory where the worker runs, the closest first."""
    places = memory_groups()
    found = [path for place in places for path in with_job_above(*place) if os.path.exists(path)]
    return found or ['/proc/vmstat']


def with_job_above(folder, name):
    """Slurm limits the job or its step (job_7/step_batch/task_0); above the job are the jobs of others."""
    yield os.path.join(folder, name)
    parts = folder.split('/')
    jobs = [index for index, part in enumerate(parts) if part.startswith('job_')]
    for end in range(len(parts) - 1, jobs[-1] if jobs else len(parts), -1):
        yield '/'.join([*parts[:end], name])


def memory_groups():
    """Folders of control groups, each with the name of the file that counts."""
    found = []
    try:
        with open('/proc/self/cgroup') as groups, open('/proc/self/mountinfo') as mounts:
            # 36 35 98:0 /root /mount/point options - type source options
            points = [(line.split(' - ')[0].split(), line.split(' - ')[1].split()) for line in mounts]
            for line in groups:
                _, controllers, path = line.rstrip('\n').split(':', 2)
                kind = 'cgroup2' if controllers == '' else 'cgroup'
                name = 'memory.events' if controllers == '' else 'memory.oom_control'
                if controllers and 'memory' not in controllers.split(','):
                    continue
                for place, source in points:
                    if source[0] == kind and (kind == 'cgroup2' or 'memory' in source[2].split(',')):
                        inside = os.path.relpath(path, place[3])
                        found.append((os.path.normpath(os.path.join(place[4], inside)), name))
    except (OSError, ValueError, IndexError):
        pass
    return found


def oom_kills(files):
    """What each of the files counts."""
    found = {}
    for path in files:
        try:
            with open(path) as file:
                for line in file:
                    if line.startswith('oom_kill '):
                        found[path] = int(line.split()[1])
        except (OSError, ValueError):
            pass
    return found


def exact_memory(pid, otherwise):
    """Bytes, where what several processes share counts once. Slow for large processes."""
    try:
        with open('/proc/%d/smaps_rollup' % pid) as file:
            for line in file:
                if line.startswith('Pss:'):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return otherwise


# Processors


class OnCpus:
    """What is started inside runs on these CPUs from its first instruction on."""

    def __init__(self, cpus, all_cpus):
        self.cpus, self.all_cpus = cpus, all_cpus

    def __enter__(self):
        if self.cpus:
            os.sched_setaffinity(0, self.cpus)

    def __exit__(self, *_):
        if self.cpus:
            os.sched_setaffinity(0, self.all_cpus)


def core_of(cpu):
    """The first of the CPUs that are threads of the same core."""
    try:
        with open('/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list' % cpu) as file:
            return int(file.read().replace('-', ',').split(',')[0])
    except (OSError, ValueError):
        return cpu


def cpus_of_places(places, cpus):
    """CPUs for each place. None where the worker may use more than its job has: jobs would meet on the same ones."""
    allowed = os.sched_getaffinity(0)
    told = os.environ.get('SLURM_CPUS_ON_NODE', '')
    of_job = int(told) if told.isdigit() else places * cpus
    if len(allowed) != of_job or of_job < places * cpus:
        return None
    ordered = sorted(allowed, key=lambda cpu: (core_of(cpu), cpu))
    return [ordered[place * cpus : (place + 1) * cpus] for place in range(places)]


# What a unit leaves


def count_warnings(descriptor, size):
    """The lines that contain "warning" in any letter case, in pieces: logs may be huge, lines too, and still grow."""
    count, counted, rest = 0, False, b''
    left = min(size, MOST_COUNTED)
    while True:
        chunk = os.read(descriptor, min(CHUNK, left))
        left -= len(chunk)
        if not chunk:
            return count
        text = rest + chunk.lower()
        place = 0
        while True:
            if counted:
                place = text.find(b'\n', place)
                if place < 0:
                    break
                counted = False
            place = text.find(b'warning', place)
            if place < 0:
                break
            count, counted = count + 1, True
        rest = b'' if counted else text[-6:]


def last_part(descriptor, size, longest):
    part = os.pread(descriptor, longest, max(0, size - longest))
    if size > longest:  # the cut may go through a character
        part = part[:3].lstrip(bytes(range(0x80, 0xC0))) + part[3:]
    return part.decode('utf-8', 'replace')


def read_log(path, failed, carried=None):
    """The part of an end record that tells about the log, with all of it where it has at most `carried` bytes."""
    about = {'warnings': 0, 'log_bytes': 0, 'tail': ''}
    try:
        about_file = os.stat(path)
        size = about_file.st_size if stat.S_ISREG(about_file.st_mode) else 0
        if size == 0:
            return about if carried is None else {**about, 'log': ''}
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return about
    about['log_bytes'] = size
    try:
        about['warnings'] = count_warnings(descriptor, size)
        if failed:
            about['tail'] = last_part(descriptor, size, TAIL)
        if carried is not None and size <= carried:
            about.update(as_text(os.pread(descriptor, size, 0)))
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return about


def as_text(content):
    try:
        return {'log': content.decode('utf-8')}
    except UnicodeDecodeError:
        return {'log64': binascii.b2a_base64(content, newline=False).decode()}


def read_output(path, largest):
    """The part of an end record that tells about the output file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return {'output': None, 'output_bytes': 0}
    except OSError as error:
        return {'output': None, 'output_bytes': 0, 'problem': 'Cannot read %s: %s.' % (path, words(error))}
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            return {'output': None, 'output_bytes': 0, 'problem': 'Cannot read %s: it is not a file.' % path}
        if about.st_size > largest:
            return {'output': None, 'output_bytes': about.st_size, 'output_too_large': True}
        content = b''
        while len(content) <= largest:  # it may still grow
            part = os.read(descriptor, CHUNK)
            if not part:
                break
            content += part
        if len(content) > largest:
            return {'output': None, 'output_bytes': len(content), 'output_too_large': True}
        return {'output': content.decode('utf-8'), 'output_bytes': len(content)}
    except UnicodeDecodeError:
        return {'output': None, 'output_bytes': about.st_size, 'output_not_text': True}
    except OSError as error:
        return {'output': None, 'output_bytes': 0, 'problem': 'Cannot read %s: %s.' % (path, words(error))}
    finally:
        os.close(descriptor)


def own_words(descriptor):
    """The end of the file behind a stream of the worker itself: the scheduler's file, where others have written too."""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ''
        again = os.open('/proc/self/fd/%d' % descriptor, os.O_RDONLY)
        try:
            return last_part(again, os.fstat(again).st_size, LONGEST_WORDS)
        finally:
            os.close(again)
    except OSError:
        return ''


# An earlier worker with the same journal


class Past:
    """What the journal tells about earlier workers."""

    def __init__(self, path):
        self.started = set()
        self.open = {}  # started and not ended: number -> (pid, ticks, boot) or None
        self.finished = False
        self.torn = False
        boot = None
        try:
            file = open(path, 'rb')
        except FileNotFoundError:
            return
        with file:
            for line in file:
                self.torn = not line.endswith(b'\n')
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if 'end' in record:
                    self.open.pop(record['end'], None)
                elif 'start' in record:
                    self.started.add(record['start'])
                    self.open[record['start']] = None
                elif 'running' in record and record['running'] in self.open:
                    self.open[record['running']] = (record['pid'], record['started'], boot)
                elif 'worker' in record:
                    boot = record['boot']
                elif 'finished' in record:
                    self.finished = True


def end_processes_of(past, logs, grace, patience):
    """Ends what still runs of the units that an earlier worker left open. They are not our children: watch /proc."""
    boot = boot_id()
    known = {known[0]: known[1] for known in past.open.values() if known and known[2] == boot}
    began = time.monotonic()
    told = None
    while time.monotonic() < began + grace + patience:
        table = process_table()
        alive = {pid for pid, ticks in known.items() if pid in table and table[pid][4] == ticks}
        alive |= {pid for pid, entry in table.items() if entry[2] in alive or entry[3] in alive}
        alive |= {pid for found in writers(table, logs).values() for pid in found}
        alive |= descendants(table, alive)
        alive = {pid for pid in alive if table[pid][0] not in b'ZX'}
        if not alive:
            return
        # Whoever is seen once is watched to its end, also after its parent is gone.
        known.update({pid: table[pid][4] for pid in alive})
        if told is None:
            told = signal.SIGTERM
            send(alive, told)
        elif time.monotonic() >= began + grace:
            send(alive, signal.SIGKILL)
        time.sleep(0.05)


# Who has a pack


class Superseded(Exception):
    """Another worker has taken the pack over: this one is forgotten by the scheduler and must not go on."""


def read_claim(path):
    """None when there is none."""
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}


def may_follow(mine, other):
    """The scheduler started the same job once more, or the process is gone. Anybody else's pack is left alone."""
    if other.get('scheduler_job', '') != mine['scheduler_job'] or mine['restart'] < other['restart']:
        return False
    if mine['scheduler_job'] is not None and mine['restart'] > other['restart']:
        return True
    same_machine = (other['host'], other['boot']) == (mine['host'], mine['boot'])
    return same_machine and not is_alive(other['pid'], other['started'])


def linked(draft, path):
    """Whether the file got the name. A link is all or nothing, also on file servers, and its content is complete."""
    try:
        os.link(draft, path)
    except FileExistsError:
        # The answer of a file server may get lost, and the question be asked again.
        return os.stat(draft).st_nlink > 1
    return True


def take_claim(path, mine):
    """Whether the pack is ours: at most one worker has it at a time."""
    draft = '%s.%s.%d' % (path, mine['host'], mine['pid'])
    with open(draft, 'w') as file:
        json.dump(mine, file)
        file.flush()
        os.fsync(file.fileno())
    try:
        for _ in range(100):
            if linked(draft, path):
                return True
            other = read_claim(path)
            if other is None:
                continue
            if not may_follow(mine, other):
                return False
            # One at a time may take over, after another look.
            turn = path + '.next'
            if linked(draft, turn):
                if read_claim(path) == other:
                    os.rename(turn, path)
                    return True
                remove(turn)
            elif may_follow(mine, read_claim(turn) or {}):
                remove(turn)
            else:
                return False
        return False
    finally:
        os.unlink(draft)


# What a worker has to do


class Duty:
    """Where the files of a worker are, and by which rules it works. As here, for a batch beside the service."""

    def __init__(self, batch, units, total, journal, prelude):
        self.batch, self.units, self.total = batch, units, total
        self.journal, self.prelude = journal, prelude
        self.control = None  # the file that tells places and stop
        self.claim = None  # path and content
        self.about = {}  # what the worker record tells beside its process
        self.places = None
        self.cpus = None  # of a unit
        self.memory = None  # of a unit, in bytes
        self.grace, self.patience = GRACE, PATIENCE
        self.largest_log = None

    @property
    def is_pack(self):
        return self.claim is not None


def unit_lines(path, begin=0, end=None):
    with open(path, 'rb') as file:
        file.seek(begin)
        for line in file:
            if end is not None and begin >= end:
                return
            begin += len(line)
            if line.strip():
                yield line


def read_json(path):
    """A file server may show a folder as it was some seconds ago."""
    for _ in range(100):
        try:
            with open(path) as file:
                return json.load(file)
        except FileNotFoundError:
            time.sleep(0.1)
    with open(path) as file:
        return json.load(file)


def batch_duty(folder):
    with open(folder + '/batch.json') as file:
        batch = json.load(file)
    lines = lambda: unit_lines(folder + '/units.jsonl')  # noqa: E731
    duty = Duty(batch, lines, batch['total'], folder + '/journal.jsonl', folder + '/prelude.txt')
    duty.control = folder + '/control.json'
    return duty


def scheduler_number(name, otherwise=None):
    text = os.environ.get(name, '')
    return int(text) if text.isdigit() else otherwise


def pack_duty(inputs, outputs, number, pack, on_nodes=False):
    batch, rules = read_json(inputs + '/batch.json'), read_json('%s/round-%d.json' % (inputs, number))
    node, nodes = scheduler_number('SLURM_PROCID', 0), max(1, scheduler_number('SLURM_NTASKS', 1))
    if not on_nodes:
        node, nodes = 0, 1
    path = '%s/units-%d.jsonl' % (inputs, number)
    begin, end = rules['offsets'][pack : pack + 2]

    def units():
        return (line for index, line in enumerate(unit_lines(path, begin, end)) if index % nodes == node)

    stem = '%s/r%d-%06d' % (outputs, number, pack) + ('.%d' % node if on_nodes else '')
    duty = Duty(batch, units, sum(1 for _ in units()), stem + '.jsonl', stem + '.prelude')
    job = {
        'scheduler_job': scheduler_number('SLURM_JOB_ID'),
        'array_job': scheduler_number('SLURM_ARRAY_JOB_ID'),
        'restart': scheduler_number('SLURM_RESTART_COUNT', 0),
        'host': os.environ.get('SLURMD_NODENAME') or os.uname().nodename,
    }
    duty.about = job
    duty.claim = stem + '.claim', {**job, 'pid': os.getpid(), 'started': own_ticks(), 'boot': boot_id()}
    duty.places, duty.cpus, duty.memory = rules['parallel'], rules['cpus'], rules['memory']
    # The scheduler kills soon after: what cannot be killed is given up at once.
    duty.grace, duty.patience = batch.get('grace', GRACE), 0.5
    duty.largest_log = batch['largest_log']
    return duty


# The worker


class Worker:
    def __init__(self, duty, past):
        batch = duty.batch
        self.duty = duty
        self.command = batch['command']
        self.folder = batch['folder']
        self.working_folder = batch['working_folder']
        self.largest_output = batch['largest_output']
        self.environment = original_environment()
        for name, value in batch['environment'].items():
            self.environment[os.fsencode(name)] = os.fsencode(value)
        if duty.cpus:
            self.environment[b'SLURM_CPUS_PER_TASK'] = b'%d' % duty.cpus
        self.ready = False  # folders are there
        self.program = None
        self.journal = Journal(duty.journal, past.torn, durable=duty.is_pack)

        self.places = None
        self.stop = self.stopping = False
        self.kill_at = None
        self.control_seen = None

        self.left = duty.total - len(past.started)
        self.units = self.read_units(past.started)
        self.next = next(self.units, None)
        self.announced = []  # have a start record that may not be on disk yet
        self.held = []  # ended, perhaps by a signal that is still on its way to the worker
        self.processes = {}  # pid -> unit, children of the worker
        self.forked = {}  # number -> unit, children of the warm process
        self.warm = None
        self.warm_allowed = bool(batch['warm'])

        self.all_cpus = os.sched_getaffinity(0)
        self.free_cpus = cpus_of_places(duty.places, duty.cpus) if duty.cpus else None
        self.next_watch = self.next_claim_look = 0.0
        self.oom_files = oom_files()
        self.oom_before = oom_kills(self.oom_files)
        self.oom_explained = 0
        self.subreaper = become_subreaper()
        self.wakeup, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGUSR1, self.on_look)
        signal.signal(signal.SIGTERM, self.on_stop)
        signal.signal(signal.SIGINT, self.on_stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    def on_look(self, *_):
        self.control_seen = None

    def on_stop(self, *_):
        self.stop = True

    def read_units(self, known):
        for line in self.duty.units():
            unit = json.loads(line)
            if unit['number'] not in known:
                yield Unit(unit['number'], unit['stem'], unit['args'])

    def path(self, unit, ending):
        return self.folder + '/' + unit.stem + ending

    @property
    def busy(self):
        return len(self.processes) + len(self.forked) + len(self.announced)

    def run(self):
        while True:
            self.look()
            self.hear()
            self.reap()
            self.judge()
            if self.stopping:
                if self.go_on_stopping():
                    break
            else:
                # Whoever might have been stopped is waited for: what starts now would begin in vain.
                if not self.held:
                    self.start()
                if self.next is None and not self.busy and not self.held:
                    break
                self.watch_memory()
            if not self.stopping or self.kill_at is not None:
                self.wait(0.1 if self.stopping else 1.0)
        self.leave()

    def wait(self, longest):
        journal = self.journal
        if journal.urgent or journal.rest or journal.unsafe:
            journal.flush()
        if self.held:
            longest = min(longest, 0.1)
        readers = [self.wakeup]
        if self.warm:
            readers.append(self.warm.socket)
        ready = select.select(readers, [], [], 0.005 if journal.lines else longest)[0]
        if self.wakeup in ready:
            try:
                os.read(self.wakeup, 4096)
            except BlockingIOError:
                pass
        if not ready and journal.lines:
            journal.flush()

    def look(self):
        """What the worker may do now."""
        if self.duty.control:
            self.look_at_control()
        elif self.places is None:
            self.grant(self.duty.places)
        if self.duty.claim:
            self.look_at_claim()
        if self.stop and not self.stopping:
            self.stopping = True
            self.journal.add({'stopping': True})

    def look_at_control(self):
        """Reads the control file if it changed. One that is missing or cut off changes nothing."""
        try:
            about = os.stat(self.duty.control)
            seen = (about.st_mtime_ns, about.st_ino, about.st_size)
            if seen != self.control_seen:
                with open(self.duty.control) as file:
                    wanted = json.load(file)
                places = wanted['places']
                self.stop = self.stop or wanted.get('stop') is True
                self.control_seen = seen
                if type(places) is int and places != self.places:
                    self.grant(places)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass

    def grant(self, places):
        self.places = places
        self.journal.add({'places': places})

    def look_at_claim(self):
        """A scheduler that lost sight of this machine may have started the job again on another one."""
        if time.monotonic() < self.next_claim_look:
            return
        self.next_claim_look = time.monotonic() + 2
        path, mine = self.duty.claim
        if (read_claim(path) or mine) != mine:
            raise Superseded()

    # Starting

    def start(self):
        while True:
            while self.next and self.busy < (self.places or 0) and not self.journal.rest and self.warm_is_ready():
                unit = self.next
                self.next = next(self.units, None)
                self.journal.add({'start': unit.number, 'time': time.time()})
                self.announced.append(unit)
                if self.free_cpus:
                    unit.cpus = self.free_cpus.pop()
                self.left -= 1
                self.look()
                if self.stopping:
                    return
            if not self.announced or not self.journal.flush():
                return
            announced, self.announced = self.announced, []
            for unit in announced:
                self.launch(unit)

    def launch(self, unit):
        try:
            log = self.prepare(unit)
            try:
                if not (self.warm and self.warm.order(self, unit)):
                    self.launch_plain(unit, log)
            finally:
                os.close(log)
        except Problem as problem:
            self.end(unit, problem=str(problem))

    def prepare(self, unit):
        """The files of a unit, as they have to be just before its start; gives its log, open."""
        if not self.ready:
            self.prepare_folders()
        path = self.path(unit, '-args.json')
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            try:
                # A lone surrogate becomes what JSON writes for it.
                content = unit.args.encode('utf-8', 'backslashreplace')
                while content:
                    content = content[os.write(descriptor, content) :]
            finally:
                os.close(descriptor)
        except OSError as error:
            raise Problem('Cannot write %s: %s.' % (path, words(error)))
        path = self.path(unit, '-metadiff.json')
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise Problem('Cannot remove %s, which an earlier run left: %s.' % (path, words(error)))
        path = self.path(unit, '-log.txt')
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        except OSError as error:
            raise Problem('Cannot create %s: %s.' % (path, words(error)))

    def prepare_folders(self):
        try:
            os.makedirs(self.folder, exist_ok=True)
        except OSError as error:
            raise Problem('Cannot create the folder %s: %s.' % (self.folder, words(error)))
        try:
            os.chdir(self.working_folder)
        except OSError as error:
            raise Problem('Cannot enter the folder %s: %s.' % (self.working_folder, words(error)))
        self.ready = True

    def arguments(self, unit):
        return ['--args-json', self.path(unit, '-args.json'), '--out-json', self.path(unit, '-metadiff.json')]

    def find_program(self):
        if self.program is None:
            self.program = find_program(self.command[0], self.environment)
        if self.program is None:
            raise Problem('Cannot start %s: there is no such program, or it is not executable.' % self.command[0])
        return self.program

    def launch_plain(self, unit, log):
        program = self.find_program()
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, '/dev/null', os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, log, 1),
            (os.POSIX_SPAWN_DUP2, log, 2),
        ]
        try:
            with OnCpus(unit.cpus, self.all_cpus):
                pid = spawn(program, self.command + self.arguments(unit), self.environment, actions)
        except OSError as error:
            self.program = None
            raise Problem('Cannot start %s: %s.' % (program, words(error)))
        entry = process_stat(pid)
        self.processes[pid] = unit
        self.is_running(unit, pid, entry[4] if entry else '')

    def is_running(self, unit, pid, ticks):
        unit.pid, unit.ticks = pid, ticks
        self.journal.add({'running': unit.number, 'pid': pid, 'started': ticks}, urgent=False)

    # Ending

    def reap(self):
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if self.warm and pid not in self.processes:
                # The child of a warm process that died: its last words name the unit.
                self.hear()
            unit = self.processes.pop(pid, None)
            if unit:
                if not self.subreaper:
                    send_group(pid, signal.SIGTERM)
                self.over(unit, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
        for unit in [unit for unit in self.processes.values() if unit.orphan]:
            entry = process_stat(unit.pid)
            if entry is None or entry[4] != unit.ticks:
                del self.processes[unit.pid]
                self.end(unit, lost=True)

    def over(self, unit, status, cpu, memory):
        """A scheduler's signal to stop goes to all processes of a job, and may end a unit before the worker."""
        self.give_back_cpus(unit)
        how = {'status': status, 'cpu': cpu, 'memory': memory, 'when': time.time()}
        if self.duty.is_pack and not self.stop and ended_by(status, signal.SIGTERM):
            self.held.append((time.monotonic() + MOMENT, unit, how))
            return
        if self.duty.is_pack and self.stop and status != 0 and not unit.over_memory:
            unit.stopped = True
        self.end(unit, **how)

    def judge(self):
        while self.held and (self.stop or self.held[0][0] <= time.monotonic()):
            _, unit, how = self.held.pop(0)
            unit.stopped = self.stop
            self.end(unit, **how)

    def give_back_cpus(self, unit):
        if unit.cpus:
            self.free_cpus.append(unit.cpus)
            unit.cpus = None

    def end(self, unit, status=None, cpu=0.0, memory=None, problem=None, lost=False, when=None):
        self.give_back_cpus(unit)
        exit_code = killer = None
        if status is not None:
            if os.WIFSIGNALED(status):
                killer = os.WTERMSIG(status)
            else:
                exit_code = os.WEXITSTATUS(status)
        failed = exit_code != 0
        record = {
            'end': unit.number,
            'time': when or time.time(),
            'exit_code': exit_code,
            'signal': killer,
            'cpu': round(cpu, 6),
            'memory': memory,
            'out_of_memory': killer == 9 and not unit.stopped and (unit.over_memory or self.memory_ran_out()),
            'output': None,
            'output_bytes': 0,
            'problem': problem,
            'stopped': unit.stopped,
            'lost': lost,
            **read_log(self.path(unit, '-log.txt'), failed, self.duty.largest_log),
        }
        if self.duty.is_pack:
            record['memory_limit'] = self.duty.memory
        if not failed:
            record.update(read_output(self.path(unit, '-metadiff.json'), self.largest_output))
        self.journal.add(record)

    def memory_ran_out(self):
        """Each kill that the kernel counts explains one unit."""
        kills = oom_kills(self.oom_files)
        if max([number - self.oom_before.get(path, 0) for path, number in kills.items()] or [0]) <= self.oom_explained:
            return False
        self.oom_explained += 1
        return True

    def watch_memory(self):
        """The units of a pack share the memory of a job: before it runs out, the one that took most has to go."""
        began = time.monotonic()
        if self.duty.memory and began >= self.next_watch:
            unit = self.largest_over_memory()
            if unit:
                unit.over_memory = True
                send_group(unit.pid, signal.SIGKILL)
                send(processes_of(own_table(), unit), signal.SIGKILL)
            # A look at many large processes may take long.
            self.next_watch = began + max(1.0, 20 * (time.monotonic() - began))

    def largest_over_memory(self):
        """The unit that holds most, if it holds more than it may and there is hardly any memory left."""
        units = [unit for unit in [*self.processes.values(), *self.forked.values()] if unit.pid]
        if not units or any(unit.over_memory for unit in units):
            return None
        almost_all = 0.95 * self.duty.places * self.duty.memory
        table = own_table()
        held = {pid: entry[5] * PAGE for pid, entry in table.items()}
        if sum(held.values()) <= almost_all:
            return None
        held = {pid: exact_memory(pid, size) for pid, size in held.items()}
        if sum(held.values()) <= almost_all:
            return None
        sizes = {unit: sum(held[pid] for pid in processes_of(table, unit)) for unit in units}
        largest = max(units, key=lambda unit: sizes[unit])
        return largest if sizes[largest] > self.duty.memory else None

    def go_on_stopping(self):
        """True when no unit runs any more."""
        now = time.monotonic()
        if self.kill_at is None:
            self.kill_at = now + self.duty.grace
            self.journal.next_sync = self.kill_at + self.duty.patience  # there is no time to wait for a slow disk
            units = [*self.announced, *self.processes.values(), *self.forked.values()]
            for unit in units:
                unit.stopped = True
            for unit in self.announced:
                self.end(unit)
            self.announced = []
            self.signal_all(signal.SIGTERM)
        elif now >= self.kill_at:
            self.signal_all(signal.SIGKILL)
        if now >= self.kill_at + self.duty.patience:
            for unit in [*self.processes.values(), *self.forked.values()]:
                self.end(unit, lost=True)
            self.processes, self.forked = {}, {}
        return not self.busy

    def signal_all(self, number):
        if self.warm and not self.forked:
            self.close_warm()
        for unit in [*self.processes.values(), *self.forked.values()]:
            if unit.pid:
                send_group(unit.pid, number)
        found = descendants(process_table(), [os.getpid()])
        send(found - {self.warm.pid if self.warm else None}, number)

    def leave(self):
        self.close_warm()
        self.end_left_behind()
        record = {'finished': True, 'stopped': self.stopping}
        if self.duty.is_pack:
            remove(self.duty.prelude)
            remove(self.duty.prelude + '.py')
            record.update(out=own_words(1), err=own_words(2))
        self.journal.add(record)
        while not self.journal.flush(last=True):
            time.sleep(0.2)

    def end_left_behind(self):
        kill_at = self.kill_at or time.monotonic() + self.duty.grace
        told = False
        while time.monotonic() < kill_at + self.duty.patience:
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            late = time.monotonic() >= kill_at
            if late or not told:
                self.signal_all(signal.SIGKILL if late else signal.SIGTERM)
                told = True
            self.wait(0.1)

    def kill_everything(self):
        """For a defect of the worker itself: no unit may outlive it unseen."""
        for _ in range(50):
            found = descendants(process_table(), [os.getpid()])
            if not found:
                return
            send(found, signal.SIGKILL)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            time.sleep(0.05)

    # The warm process

    def warm_is_ready(self):
        """False while it imports. It is worth a start when more than one unit is left."""
        if self.warm_allowed:
            self.warm_allowed = False
            if self.left > 1:
                self.start_warm()
        return self.warm is None or self.warm.ready

    def start_warm(self):
        try:
            if not self.ready:
                self.prepare_folders()
            if not may_be_warm(self.command):
                raise Problem('the command is not a Python interpreter and a script')
            program, arguments = self.find_program(), self.arguments(self.next)
            # Libraries look once, when they are imported, how many CPUs there are.
            with OnCpus(self.free_cpus and self.free_cpus[0], self.all_cpus):
                self.warm = Warm(program, self.command, arguments, self.environment, self.duty.prelude)
        except (OSError, Problem) as error:
            complain(error)

    def hear(self):
        """Takes what the warm process reports."""
        while self.warm:
            try:
                message = self.warm.socket.recv(65536)
            except BlockingIOError:
                return
            except OSError:
                message = b''
            kind, *rest = message.decode('utf-8', 'replace').split('\0')
            if kind == 'ready':
                self.warm.ready = True
            elif kind == 'pid':
                self.is_running(self.forked[int(rest[0])], int(rest[1]), rest[2])
            elif kind == 'end':
                unit = self.forked.pop(int(rest[0]))
                if not self.subreaper:
                    send_group(unit.pid, signal.SIGTERM)
                self.over(unit, int(rest[1]), float(rest[2]), int(rest[3]) * 1024)
            elif kind == 'problem':
                self.end(self.forked.pop(int(rest[0])), problem=rest[1])
            else:
                complain(rest[0] if rest else 'it ended')
                self.close_warm()

    def close_warm(self):
        """Units that run in it become children of the worker, or are lost."""
        if not self.warm:
            return
        self.warm.socket.close()
        send_group(self.warm.pid, signal.SIGKILL)
        self.warm = None
        silent = [unit for unit in self.forked.values() if unit.pid is None]
        unknown = {os.path.realpath(self.path(unit, '-log.txt')): unit for unit in silent}
        if unknown:
            for log, pids in writers(process_table(), unknown).items():
                for pid in pids:
                    entry = process_stat(pid)
                    if entry and entry[3] == pid:  # the leader of the session is the unit itself
                        self.is_running(unknown[log], pid, entry[4])
        for unit in self.forked.values():
            if unit.pid is None:
                self.end(unit, lost=True)
            else:
                unit.orphan = True
                self.processes[unit.pid] = unit
        self.forked = {}


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def complain(why):
    sys.stderr.write('No warm start, every unit imports for itself: %s\n' % why)
    sys.stderr.flush()


def may_be_warm(command):
    if len(command) != 2 or not os.path.basename(command[0]).startswith(('python', 'pypy')):
        return False
    script = command[1]
    return script.startswith('/') and script.endswith('.py') and os.path.isfile(script) and os.access(script, os.R_OK)


def warm_program(prelude):
    """A file with the first part of this one, beside the prelude."""
    path = prelude + '.py'
    with open(__file__, encoding='utf-8') as source, open(path, 'w', encoding='utf-8') as file:
        file.write(source.read().split('# Here ends what the warm process runs.')[0])
    return path


class Warm:
    """The worker's end of the process that imports once. A message is a packet of words between NULs."""

    def __init__(self, program, command, arguments, environment, prelude):
        self.ready = False
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self.socket.setblocking(False)
            other.set_inheritable(True)
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, '/dev/null', os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, prelude, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ]
            own = [command[0], warm_program(prelude), '--warm', str(other.fileno()), prelude]
            self.pid = spawn(program, own + command + arguments, environment, actions)
        except BaseException:
            self.socket.close()
            raise
        finally:
            other.close()

    def order(self, worker, unit):
        """False when the unit has to be started in another way."""
        cpus = ','.join(map(str, unit.cpus or ()))
        words = [str(unit.number), cpus, worker.path(unit, '-log.txt'), *worker.arguments(unit)]
        try:
            self.socket.send('\0'.join(words).encode('utf-8', 'surrogateescape'))
        except OSError:
            return False
        worker.forked[unit.number] = unit
        return True


# The programs


def own_ticks():
    me = process_stat(os.getpid())
    return me[4] if me else ''


def keep_descriptors():
    """What the worker was started with is not for its units."""
    for name in os.listdir('/proc/self/fd'):
        if int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:  # the listing's own
                pass


def main(folder):
    folder = os.path.abspath(folder)
    keep_descriptors()
    lock = os.open(folder + '/lock', os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return
        raise
    sign(lock, own_ticks())
    fulfil(batch_duty(folder))


def main_of_pack(inputs, outputs, number, pack, *flags):
    inputs, outputs = os.path.abspath(inputs), os.path.abspath(outputs)
    keep_descriptors()
    duty = pack_duty(inputs, outputs, int(number), int(pack), '--nodes' in flags)
    os.makedirs(outputs, exist_ok=True)
    try:
        if take_claim(*duty.claim):
            fulfil(duty)
        else:
            sys.stderr.write('Another job of the scheduler has these tasks, so that none is started here.\n')
    except Superseded:
        sys.stderr.write('The scheduler has started this job again elsewhere, so that it ends here.\n')


def fulfil(duty):
    past = Past(duty.journal)
    if past.finished:
        return
    worker = Worker(duty, past)
    try:
        about = {'worker': os.getpid(), 'started': own_ticks(), 'boot': boot_id()}
        worker.journal.add({**about, 'host': os.uname().nodename, 'time': time.time(), **duty.about})
        worker.journal.flush()
        if past.open:
            end_lost(worker, past)
        worker.run()
    except BaseException:
        worker.kill_everything()
        raise


def sign(lock, started):
    """Tells who holds the lock: the service must not wait for the journal, which may take long to read."""
    try:
        os.ftruncate(lock, 0)
        os.write(lock, ('%d %s' % (os.getpid(), started)).encode())
    except OSError:
        pass


def end_lost(worker, past):
    units = [unit for unit in worker.read_units(()) if unit.number in past.open]
    logs = {os.path.realpath(worker.path(unit, '-log.txt')) for unit in units}
    end_processes_of(past, logs, worker.duty.grace, worker.duty.patience)
    for unit in units:
        worker.end(unit, lost=True)


# Following the journals of packs from elsewhere


def open_file(path):
    """Opens a file; a task may have put a pipe, which would be waited for, or a link in its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, 'not a file')
    return descriptor


class Followed:
    def __init__(self, path, offset, longest):
        self.path, self.offset, self.longest = path, offset, longest
        self.seen = -1  # size at which nothing was new
        self.finished = False
        self.broken = False  # a record without an end: no worker wrote it

    def news(self):
        """Whole records: about a megabyte, unless one alone is larger."""
        try:
            if self.finished or os.stat(self.path).st_size in (self.seen, self.offset):
                return b''
            with open(open_file(self.path), 'rb') as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self.offset)
                data = file.read(CHUNK)
                while data and b'\n' not in data:
                    more = file.read(CHUNK)
                    if not more:
                        break
                    data += more
                    if len(data) > self.longest:
                        self.finished = self.broken = True
                        return b''
        except OSError:
            return b''
        data = data[: data.rfind(b'\n') + 1]
        self.seen = -1 if data else size
        self.offset += len(data)
        self.finished = data[:-1].rpartition(b'\n')[2].startswith(b'{"finished"')
        return data

    def freshen(self):
        """A file server is asked for the size when a file is opened; a look alone may tell one of a minute ago."""
        try:
            os.close(open_file(self.path))
        except OSError:
            pass


class Listener:
    """What is said on standard input, a message a line."""

    def __init__(self):
        self.rest = b''
        self.closed = False

    def wait(self, longest):
        """Messages, at once when there are some."""
        if not self.closed and select.select([0], [], [], longest)[0]:
            part = os.read(0, CHUNK)
            self.closed = not part
            self.rest += part
        *lines, self.rest = self.rest.split(b'\n')
        return [json.loads(line) for line in lines if line.strip()]


def follow(only=None):
    """Prints what is new in the journals of folders, until nobody is there to hear.

    `{"follow": folder, "offsets": {file: bytes}, "longest": bytes}` begins with what is not known yet, up to the longest
    record; `{"forget": folder}` ends it. A message without a folder is about the one of the command line.
    """
    folders, listener = {}, Listener()  # folder -> {file: Followed}
    longest = LONGEST_RECORD
    next_listing = next_sign = 0.0
    listings, more = 0, False
    while not listener.closed:
        for message in listener.wait(0 if more else 0.3):
            folders.pop(message.get('forget'), None)
            if 'offsets' in message:
                folder = message.get('follow', only)
                known = message['offsets'].items()
                longest = message.get('longest', LONGEST_RECORD)
                folders[folder] = {name: Followed(folder + '/' + name, offset, longest) for name, offset in known}
                next_listing = 0.0
        now = time.monotonic()
        if now >= next_listing:
            for folder, files in folders.items():
                for name in journals_in(folder):
                    files.setdefault(name, Followed(folder + '/' + name, 0, longest))
            growing = [one for files in folders.values() for one in files.values() if not one.finished]
            step = 1 + len(growing) // FRESHENED
            for one in growing[listings % step :: step]:
                one.freshen()
            next_listing, listings = now + 2, listings + 1
        more = False
        for folder, files in folders.items():
            for name, one in files.items():
                begin, data = one.offset, one.news()
                if data:
                    more = True
                    for start in range(0, len(data), CHUNK):  # a large record in pieces: who listens puts them together
                        text = data[start : start + CHUNK].decode('latin-1')  # a character for each byte, whatever they are
                        piece = {'offset': begin + start, 'next': begin + start + len(text), 'data': text}
                        tell({'folder': folder, 'file': name, **piece})
                elif one.broken:
                    one.broken = False
                    tell({'folder': folder, 'file': name, 'broken': True})
        if now >= next_sign:
            tell({'alive': True})
            next_sign = now + 10


def journals_in(folder):
    try:
        names = os.listdir(folder)
    except OSError:  # it may come
        return []
    return sorted(name for name in names if name[0] == 'r' and '-' in name and name.endswith('.jsonl'))


def tell(message):
    rest = (json.dumps(message) + '\n').encode()
    while rest:
        rest = rest[os.write(1, rest) :]


if __name__ == '__main__':
    if sys.argv[1] == '--pack':
        main_of_pack(*sys.argv[2:])
    elif sys.argv[1] == '--follow':
        try:
            follow(*sys.argv[2:])
        except BrokenPipeError:
            pass
    else:
        main(sys.argv[1])
