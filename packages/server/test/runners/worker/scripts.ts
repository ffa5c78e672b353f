/** Scripts that do what scripts do, for comparing a warm start with a plain run. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { ToldEnd } from '../../../src/runners/records.ts';
import type { Batch } from '../batch.ts';

export const MODULES = {
  noisy: `import sys, warnings, logging
print('noisy on stdout')
print('noisy on stderr', file=sys.stderr)
warnings.warn('noisy is old', DeprecationWarning, stacklevel=2)
logging.basicConfig(level=logging.INFO)
logging.info('noisy logs')
`,
  exits: `import atexit
atexit.register(print, 'registered at import')
`,
  depths: `def fail(depth):
    if depth == 0:
        raise ValueError('at the bottom: \u00e9')
    fail(depth - 1)
def wrapped():
    try:
        fail(2)
    except ValueError as error:
        raise RuntimeError('on the way') from error
`,
  keeps_main: `import __main__
def name_of(): return __main__.SET_BY_THE_SCRIPT
`,
  keeps_file: `file = open('kept', 'a')
def f(): pass
`,
  keeps_class: `class Keeper: pass
`,
  work: `def square(x): return x * x
`,
  sees: `import os, sys
seen = [os.getcwd(), sys.argv[0], len(sys.argv), sys.argv[1], sys.path[0], os.environ.get('X')]
argv = sys.argv
`,
  once: `import warnings
def warn(): warnings.warn('only once')
warn()
`,
};

/** A script, and how each unit of it ends in a plain run (so that a script with a mistake is seen). */
export const SCRIPTS: [string, string, number | string][] = [
  ['says nothing', 'import os\n', 0],
  ['writes its output', 'import sys, shutil\nshutil.copy(sys.argv[2], sys.argv[4])\n', 0],
  [
    'looks around',
    `'''Doc.'''
from __future__ import annotations
import os, sys, sees
print(__name__, __file__, __doc__, __spec__, __package__, type(__loader__).__name__, __loader__.path, sys.path[0])
print(sorted(globals()))
print(sys.argv, sees.seen[:4], sees.seen[4:], sees.argv is sys.argv, getattr(sys, 'orig_argv', None))
print(os.getcwd(), sorted(os.environ.items()), sys.flags, sys.executable, sys.stdin.read())
print(sys.modules['__main__'].__dict__ is globals(), os.getpgrp() == os.getpid() == os.getsid(0))
import signal
print([signal.getsignal(n) for n in sorted(signal.valid_signals())], sorted(os.listdir('/proc/self/fd')))
print(sys.path, __annotations__ if sys.version_info < (3, 14) else 0)
x: int = 1
`,
    0,
  ],
  ['warns and logs at import', 'import noisy\nprint("after")\nimport logging; logging.info("main logs")\n', 0],
  [
    'mixes buffered and unbuffered output',
    `import sys, os, noisy
print('a')
print('b', file=sys.stderr)
os.write(1, b'c\\n')
os.system('echo d')
print('e', flush=True)
sys.stdout.write('f' * 9000)
os.write(2, b'g\\n')
`,
    0,
  ],
  ['warns once', 'import once\nonce.warn()\nonce.warn()\nprint("done")\n', 0],
  ['warns in the script', 'import warnings\nwarnings.warn("here", DeprecationWarning)\n', 0],
  ['raises in the script', 'import os\nprint("x")\nraise ValueError("text")\n', 1],
  ['raises far below', 'import depths\ndef f(): depths.fail(3)\nf()\n', 1],
  ['raises from another exception', 'import depths\ndepths.wrapped()\n', 1],
  [
    'raises while it handles an exception',
    'import depths\ntry:\n    depths.fail(1)\nexcept ValueError:\n    1 / 0\n',
    1,
  ],
  ['fails at a later import', 'import os\nos.getpid()\nimport no_such_module\n', 1],
  [
    'has an exception hook of its own',
    'import sys\nsys.excepthook = lambda *a: print("hook", a[1], a[2].tb_lineno)\n1 / 0\n',
    1,
  ],
  [
    'is interrupted',
    'import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(5)\n',
    'signal 2',
  ],
  ['exits with nothing', 'import sys\nsys.exit()\n', 0],
  ['exits with a number', 'import sys\nprint("x")\nsys.exit(7)\n', 7],
  ['exits with a text', 'import sys\nsys.exit("a text")\n', 1],
  ['exits with True', 'import sys\nsys.exit(True)\n', 1],
  ['exits with a large number', 'import sys\nsys.exit(256 + 3)\n', 3],
  [
    'raises SystemExit below',
    'import depths\ndef f(): raise SystemExit(4)\ntry:\n    f()\nfinally:\n    print("finally")\n',
    4,
  ],
  ['leaves without cleaning', 'import os, exits\nprint("lost")\nos._exit(5)\n', 5],
  ['is killed', 'import os\nprint("lost")\nos.kill(os.getpid(), 9)\n', 'signal 9'],
  ['ends by SIGTERM', 'import os\nos.kill(os.getpid(), 15)\nimport time; time.sleep(5)\n', 'signal 15'],
  ['aborts', 'import os\nos.abort()\n', 'signal 6'],
  [
    'registers what is done at exit',
    'import exits, atexit\natexit.register(print, "registered by the script")\nprint("body")\nraise KeyError(1)\n',
    1,
  ],
  [
    'leaves a thread running',
    `import threading, time
def late():
    time.sleep(0.1)
    print('late', threading.current_thread().name)
threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print('main is over', threading.current_thread() is threading.main_thread(), threading.active_count())
`,
    0,
  ],
  [
    'raises in a thread',
    'import threading\nt = threading.Thread(target=lambda: 1 / 0, name="t")\nt.start()\nt.join()\n',
    0,
  ],
  ['raises at exit', 'import atexit\natexit.register(lambda: 1 / 0)\n', 0],
  ['has objects that say good-bye', 'import os\nclass A:\n    def __del__(self): print("bye")\na = A()\n', 0],
  ['leaves a file open', 'import sys, work\ndef f(): pass\nfile = open(sys.argv[4], "w")\nfile.write("1")\n', 0],
  ['leaves a file open in a module', 'import sys, work\nwork.file = open(sys.argv[4], "w")\nwork.file.write("1")\n', 0],
  [
    'leaves a generator open',
    `import os
def g():
    try:
        yield
    finally:
        print('closed')
x = g()
next(x)
`,
    0,
  ],
  [
    'gives a class of a module, at exit, what says good-bye',
    `import atexit, keeps_class
class A:
    def __del__(self): print('bye', flush=True)
atexit.register(lambda: setattr(keeps_class.Keeper, 'kept', A()))
print('body')
`,
    0,
  ],
  [
    'gives a class of a module, in a thread that it leaves, what says good-bye',
    `import keeps_class, threading, time
class A:
    def __del__(self): print('bye', flush=True)
def late():
    time.sleep(0.05)
    keeps_class.Keeper.kept = A()
threading.Thread(target=late).start()
print('body')
`,
    0,
  ],
  [
    'leaves generators and files that are over',
    `import keeps_class
def g():
    try:
        yield
    finally:
        print('closed')
keeps_class.Keeper.kept = unstarted, over = g(), g()
list(over)
with open(__file__) as keeps_class.Keeper.read: pass
print('body')
`,
    0,
  ],
  [
    'leaves a file open that a module opened',
    `import keeps_file, sys
def f(): pass
file = open(sys.argv[4], 'w')
file.write('"of the script"')
keeps_file.file.write('of the module')
`,
    0,
  ],
  ['is known to modules as __main__', 'import keeps_main\nSET_BY_THE_SCRIPT = 3\nprint(keeps_main.name_of())\n', 0],
  [
    'changes the environment before an import',
    'import os\nos.environ["X"] = "set"\nimport sees\nprint(sees.seen)\n',
    0,
  ],
  [
    'pickles its own classes',
    'import pickle\nclass A:\n    x = 1\nif __name__ == "__main__":\n    print(pickle.loads(pickle.dumps(A())).x, A.__module__)\n',
    0,
  ],
  ...['fork', 'spawn'].map((method): [string, string, number] => [
    `uses multiprocessing (${method})`,
    `import multiprocessing, sys
from work import square
def cube(x):
    return x ** 3
if __name__ == '__main__':
    context = multiprocessing.get_context('${method}')
    with context.Pool(2) as pool:
        print(pool.map(square, range(5)), pool.map(cube, range(5)))
    queue = context.Queue()
    process = context.Process(target=queue.put, args=(sys.argv[1],))
    process.start()
    print(queue.get(), process.join(), process.exitcode)
`,
    0,
  ]),
  [
    'uses subprocess and a pool of threads',
    `import subprocess
from concurrent.futures import ThreadPoolExecutor
print(subprocess.run(['sh', '-c', 'echo out; exit 3'], stdout=subprocess.PIPE))
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(abs, [-1, -2])))
`,
    0,
  ],
  [
    'runs asyncio',
    `import asyncio
async def f():
    process = await asyncio.create_subprocess_exec('true')
    print(await process.wait())
asyncio.run(f())
`,
    0,
  ],
];

/** What the units of a script did, as it compares with another run of it: logs without addresses, and what it kept. */
export function traces(batch: Batch, ends: readonly ToldEnd[], working_folder: string) {
  const file = join(working_folder, 'kept');
  const kept = existsSync(file) && readFileSync(file, 'utf8');
  rmSync(file, { force: true });
  return ends.map(({ end, exit_code, signal, output, num_warnings, problem, lost }) => {
    const log = batch
      .log(end)
      .toString()
      .replaceAll(/0x[0-9a-f]{6,}/g, '0x');
    return { end, exit_code, signal, output, num_warnings, problem, lost, log, kept };
  });
}
