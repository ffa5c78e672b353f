/** Imports that last: a process has them ready for the units of batches to come, and no unit can tell. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { oneIn } from '../../support/long.ts';
import { until } from '../../support/until.ts';
import {
  cleanUp,
  interpreters,
  isAlive,
  makeBatch,
  makeScript,
  newFolder,
  running,
  several,
  type Batch,
  type Options,
  turnsOf,
} from '../batch.ts';
import { makeWarmParent, PLAIN } from '../warm-parent.ts';
import { MODULES, SCRIPTS, traces } from './scripts.ts';

afterAll(cleanUp);

const quoted = (path: string) => JSON.stringify(path);
/** The text of a module that writes a line whenever it is imported. */
const counting = (path: string, more = '') => `open(${quoted(path)}, 'a').write('x')\n${more}`;
const timesOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').length : 0);
/** The batch had a warm process of its own. */
const hadOwn = (batch: Batch) => existsSync(join(batch.batch, 'warm.txt'));
const logs = (batch: Batch, n: number) => Array.from({ length: n }, (_, unit) => batch.log(unit).toString());
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
const below = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...below(child)]);
const isRoot = process.getuid?.() === 0;

describe.concurrent.each(interpreters().map((python) => ({ python })))('the warm parent with $python', ({ python }) => {
  const turn = turnsOf(python, 1);
  const parentOf = (options: Omit<Parameters<typeof makeWarmParent>[0], 'python'> = {}) =>
    makeWarmParent({ python, ...options });
  const batchIn = (parent: { folder: string }, script: string, options: Partial<Options> = {}) =>
    makeBatch({ python, command: [python, script], warm: true, warm_parent: parent.folder, ...options });

  /** A file that stays open would be written to by units of other batches. */
  const OWN = 'leaves a file open that a module opened';

  // with the other interpreter than in batches of their own
  // the others in forked-units.test.ts, and each in both in long runs
  it.each(turn.of(oneIn(3, SCRIPTS)))(
    'serves a script that %s, and it does what it does in a plain run',
    async (name, text, expected) => {
      const script = makeScript(text, MODULES);
      const folder = join(newFolder(), '0_task');
      const working_folder = newFolder();
      const environment = { Y: 'y' };
      const parent = parentOf({ working_folder, environment });
      const warm = await parent.start();
      const outcomes = async (isWarm: boolean, count: number) => {
        rmSync(folder, { recursive: true, force: true });
        const batch = batchIn(parent, script, {
          folder,
          warm: isWarm,
          working_folder,
          environment,
          args: several(count),
        });
        const { ends, stderr } = await batch.run(PLAIN);
        expect(stderr).toBe('');
        expect(hadOwn(batch)).toBe(isWarm && name === OWN && count > 1);
        return traces(batch, ends, working_folder);
      };
      const plain = await outcomes(false, 2);
      expect(plain.map((one) => (one.signal === null ? one.exit_code : `signal ${one.signal}`))).toEqual([
        expected,
        expected,
      ]);
      const alone = await outcomes(false, 1);
      expect(await outcomes(true, 2)).toEqual(plain);
      // one unit alone, and the second batch
      expect(await outcomes(true, 1)).toEqual(alone);
      const settled = name === OWN ? 'the imports left a file open' : 'ready';
      expect(parent.state()?.scripts).toEqual({ [script]: settled });
      warm.process.kill('SIGTERM');
      expect(await warm.done).toEqual({ code: 0, stderr: '' });
    },
  );

  turn.it('imports once for all batches, ahead of the first, and also for one unit alone', async () => {
    const counter = join(newFolder(), 'imports');
    const script = makeScript('import costly\nprint("here")\n', { costly: counting(counter) });
    const parent = parentOf({ scripts: [script] });
    await parent.start();
    expect(await parent.settled(script)).toBe('ready');
    expect(timesOf(counter)).toBe(1);
    for (const count of [1, 3, 1]) {
      const batch = batchIn(parent, script, { args: several(count) });
      const { ends } = await batch.run(PLAIN);
      expect(ends.map((end) => end.exit_code)).toEqual(several(count).map(() => 0));
      expect(logs(batch, count)).toEqual(several(count, 'here\n'));
    }
    const together = await Promise.all([1, 2, 3].map(() => batchIn(parent, script, { args: several(2) }).run(PLAIN)));
    expect(together.flatMap(({ ends }) => ends.map((end) => end.exit_code))).toEqual(several(6).map(() => 0));
    expect(timesOf(counter)).toBe(1);
  });

  describe('with several scripts', () => {
    /** Modules as if they were installed, and scripts in folders of their own. */
    function installed(modules: Record<string, string>, scripts: Record<string, string>) {
      const folder = newFolder();
      for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, `${name}.py`), text);
      const paths = Object.values(scripts).map((text) => makeScript(text));
      return { folder, paths, environment: { PYTHONPATH: folder } };
    }

    turn.it('imports once what all of them import, and nothing that only others import', async () => {
      const counts = newFolder();
      const counter = (name: string) => join(counts, name);
      const see = 'import sys\nprint(sorted({"common", "only_a", "only_b"} & set(sys.modules)))\n';
      const { paths, environment } = installed(
        {
          common: counting(counter('common')),
          only_a: counting(counter('a'), 'import common\ncommon.changed = True\n'),
          only_b: counting(counter('b')),
        },
        {
          a: `import common\nimport only_a\n${see}`,
          b: `import common\nimport only_b\n${see}print(hasattr(common, "changed"))\n`,
        },
      );
      const parent = parentOf({ scripts: paths, environment });
      await parent.start();
      for (const path of paths) expect(await parent.settled(path)).toBe('ready');
      const words = [];
      for (const path of paths) {
        const batch = batchIn(parent, path, { environment });
        await batch.run(PLAIN);
        words.push(batch.log(0).toString());
      }
      expect(words).toEqual(["['common', 'only_a']\n", "['common', 'only_b']\nFalse\n"]);
      expect(['common', 'a', 'b'].map((name) => timesOf(counter(name)))).toEqual([1, 1, 1]);
    });

    it.each(
      turn.of([
        ['print', 'print("common is here")\n', 'common is here\nown\n'],
        [
          'leave a thread',
          'import threading, time\nthreading.Thread(target=time.sleep, args=(0.2,)).start()\n',
          'own\n',
        ],
      ]),
    )('gives each of them imports of its own where those they share %s', async (_, text, log) => {
      const { paths, environment } = installed(
        { common: text },
        { a: 'import common\nprint("own")\n', b: 'import common\nprint("own")\n' },
      );
      const parent = parentOf({ scripts: paths, environment });
      await parent.start();
      for (const path of paths) {
        const batch = batchIn(parent, path, { environment, args: several(2) });
        await batch.run(PLAIN);
        expect(logs(batch, 2)).toEqual([log, log]);
      }
    });

    turn.it('does not share what comes after a change of the environment', async () => {
      const { paths, environment } = installed(
        { common: 'import os\nseen = os.environ.get("SEEN")\n' },
        {
          a: 'import os\nos.environ["SEEN"] = "a"\nimport common\nprint(common.seen)\n',
          b: 'import common\nprint(common.seen)\n',
          c: 'import common\nprint(common.seen)\n',
        },
      );
      const parent = parentOf({ scripts: paths, environment });
      await parent.start();
      const words = [];
      for (const path of paths) {
        const batch = batchIn(parent, path, { environment });
        await batch.run(PLAIN);
        words.push(batch.log(0).toString());
      }
      expect(words).toEqual(['a\n', 'None\n', 'None\n']);
    });

    turn.it('does not take a shared module for one that lies beside a script', async () => {
      const { paths, environment } = installed(
        { common: 'import helper\n', helper: 'name = "installed"\n' },
        { a: 'import common, helper\nprint(helper.name)\n', b: 'import common, helper\nprint(helper.name)\n' },
      );
      writeFileSync(join(dirname(paths[1]!), 'helper.py'), 'name = "beside"\n');
      const parent = parentOf({ scripts: paths, environment });
      await parent.start();
      const words = [];
      for (const path of paths) {
        const batch = batchIn(parent, path, { environment });
        await batch.run(PLAIN);
        words.push(batch.log(0).toString());
      }
      expect(words).toEqual(['installed\n', 'beside\n']);
    });

    turn.it('runs those cold whose imports cannot be copied, and the others warm', async () => {
      const counter = join(newFolder(), 'good');
      const { paths, environment } = installed(
        {
          good: counting(counter),
          threads: 'import threading, time\nthreading.Thread(target=time.sleep, args=(0.1,)).start()\n',
          server: 'import socket\nlistener = socket.socket()\nlistener.listen()\n',
          broken: 'raise ValueError("no")\n',
          leaves: 'import os\nos._exit(3)\n',
        },
        {
          threads: 'import threads\nprint("here")\n',
          server: 'import server\nprint("here")\n',
          broken: 'import broken\n',
          leaves: 'import leaves\n',
          good: 'import good\nprint("here")\n',
        },
      );
      const parent = parentOf({ scripts: paths, environment });
      await parent.start();
      const settled = [];
      for (const path of paths) settled.push(await parent.settled(path));
      expect(settled).toEqual([
        'the imports left threads behind',
        'the imports left a connection open',
        'the imports ended with ValueError: no',
        'it ended',
        'ready',
      ]);
      const codes = [];
      for (const path of paths) {
        const batch = batchIn(parent, path, { environment, args: several(2) });
        const { ends, stderr } = await batch.run(PLAIN);
        expect(stderr.includes('No warm start')).toBe(path !== paths.at(-1));
        expect(hadOwn(batch)).toBe(false);
        codes.push(ends.map((end) => end.exit_code));
      }
      expect(codes).toEqual([
        [0, 0],
        [0, 0],
        [1, 1],
        [3, 3],
        [0, 0],
      ]);
      expect(timesOf(counter)).toBe(1);
    });
  });

  turn.it('lets nothing that a unit changes reach another unit, batch or job', async () => {
    const script = makeScript(
      `import os, random, signal, sys, warnings, state
print(state.value, os.environ.get('CHANGED'), os.getcwd(), signal.getsignal(signal.SIGUSR1), warnings.filters[:1] == ['x'],
      os.umask(0o22), sys.path[-1] == 'x', 'made_up' in sys.modules, len(os.listdir('/proc/self/fd')), os.nice(0))
state.value += 1
os.environ['CHANGED'] = 'yes'
os.chdir('/tmp')
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
warnings.filters.insert(0, 'x')
os.umask(0o77)
sys.path.append('x')
sys.modules['made_up'] = sys
kept = os.open('/dev/null', os.O_RDONLY)
os.nice(1)
os.kill(os.getpid(), signal.SIGKILL) if state.value < 0 else None
`,
      { state: 'value = 1\n' },
    );
    const parent = parentOf();
    await parent.start();
    const plain = batchIn(parent, script, { warm: false });
    await plain.run(PLAIN);
    const expected = plain.log(0).toString();
    expect(expected).toMatch(/^1 None \/ /);
    for (const count of [3, 2]) {
      const batch = batchIn(parent, script, { args: several(count), slots: 1 });
      await batch.run(PLAIN);
      expect(logs(batch, count)).toEqual(several(count, expected));
    }
  });

  turn.it('gives each unit random numbers of its own, over all batches', async () => {
    const script = makeScript('import random, uuid\nprint(random.random(), uuid.uuid4())\n');
    const parent = parentOf();
    await parent.start();
    const words: string[] = [];
    for (let round = 0; round < 2; round++) {
      const batch = batchIn(parent, script, { args: several(3) });
      await batch.run(PLAIN);
      words.push(...logs(batch, 3).flatMap((log) => log.trim().split(' ')));
    }
    expect(new Set(words).size).toBe(12);
  });

  turn.it('is not used by a batch with another environment or other limits', async () => {
    const counter = join(newFolder(), 'imports');
    const script = makeScript('import os, costly\nprint(os.environ.get("X"))\n', { costly: counting(counter) });
    const parent = parentOf({ scripts: [script] });
    await parent.start();
    await parent.settled(script);
    const other = batchIn(parent, script, { environment: { X: 'x' } });
    await other.run(PLAIN);
    expect([other.log(0).toString(), timesOf(counter)]).toEqual(['x\n', 2]);
    const masking = join(newFolder(), 'masking');
    writeFileSync(masking, `#!/bin/sh\numask 27\nexec ${python} "$@"\n`, { mode: 0o755 });
    await batchIn(parent, script, { python: masking }).run(PLAIN);
    expect(timesOf(counter)).toBe(3);
    await batchIn(parent, script).run(PLAIN);
    expect(timesOf(counter)).toBe(3);
  });

  it.each(
    turn.of([
      ['a module', (script: string) => join(dirname(script), 'costly.py')],
      ['the script', (script: string) => script],
    ]),
  )('imports again when %s has changed', async (_, fileOf) => {
    const counter = join(newFolder(), 'imports');
    const script = makeScript('import costly\nprint("one")\n', { costly: counting(counter) });
    const past = new Date(Date.now() - 60_000);
    for (const name of readdirSync(dirname(script))) utimesSync(join(dirname(script), name), past, past);
    const parent = parentOf({ scripts: [script] });
    await parent.start();
    await batchIn(parent, script).run(PLAIN);
    const file = fileOf(script);
    writeFileSync(file, `${readFileSync(file, 'utf8')}print("two")\n`);
    utimesSync(file, new Date(), new Date(Date.now() - 5000));
    const batch = batchIn(parent, script);
    await batch.run(PLAIN);
    expect(batch.log(0).toString().split('\n').sort()).toEqual(['', 'one', 'two']);
    expect(timesOf(counter)).toBeGreaterThan(1);
  });

  turn.it(
    'imports again when a module appears that a plain run would find first, and not for other files',
    async () => {
      const folder = newFolder();
      writeFileSync(join(folder, 'library.py'), 'name = "installed"\n');
      const script = makeScript('import library\nprint(library.name)\n');
      const environment = { PYTHONPATH: folder };
      const parent = parentOf({ scripts: [script], environment });
      await parent.start();
      await parent.settled(script);
      const pid = parent.state()!.pid;
      writeFileSync(join(dirname(script), 'notes.txt'), '');
      const [first, second] = [batchIn(parent, script, { environment }), batchIn(parent, script, { environment })];
      await first.run(PLAIN);
      expect(parent.state()?.pid).toBe(pid);
      writeFileSync(join(dirname(script), 'library.py'), 'name = "beside"\n');
      utimesSync(join(dirname(script), 'library.py'), 1, 1);
      await second.run(PLAIN);
      expect([first.log(0).toString(), second.log(0).toString()]).toEqual(['installed\n', 'beside\n']);
    },
  );

  describe('ends', () => {
    const script = () => makeScript('import os\n');

    turn.it('when nobody used it for a while', async () => {
      const parent = parentOf({ idle_seconds: 1 });
      const { done } = await parent.start();
      expect(await done).toEqual({ code: 0, stderr: '' });
    });

    turn.it('when no service renews its lease, but not before the batches that run in it are over', async () => {
      const parent = parentOf();
      const { done, process: warm } = await parent.start();
      const batch = batchIn(parent, makeScript('import time\ntime.sleep(4)\nprint("done")\n'));
      const run = batch.run(PLAIN);
      await until(() => running(batch).length === 1);
      parent.endLease();
      await run;
      expect(batch.log(0).toString()).toBe('done\n');
      expect(await done).toEqual({ code: 0, stderr: '' });
      expect(isAlive(warm.pid!)).toBe(false);
    });

    turn.it('when its folder is gone', async () => {
      const parent = parentOf({ scripts: [script()] });
      const { done } = await parent.start();
      rmSync(parent.folder, { recursive: true, maxRetries: 10 });
      expect((await done).code).toBe(0);
    });

    turn.it('when files of the environment change, with all its processes', async () => {
      const path = script();
      const parent = parentOf({ scripts: [path] });
      const { done, process: warm } = await parent.start();
      await parent.settled(path);
      const processes = below(warm.pid!);
      expect(processes.length).toBeGreaterThan(1);
      rmSync(path);
      expect((await done).code).toBe(0);
      await until(() => !processes.some(isAlive));
    });

    turn.it('when its socket is gone, so that nobody could reach it', async () => {
      const parent = parentOf();
      const { done } = await parent.start();
      rmSync(join(parent.folder, 'socket'));
      expect(await done).toEqual({ code: 0, stderr: '' });
    });

    turn.it('when it is told to, and a second one in the same folder does not begin', async () => {
      const parent = parentOf();
      const first = await parent.start();
      const second = await parent.start();
      expect(await second.done).toEqual({ code: 0, stderr: '' });
      first.process.kill('SIGTERM');
      expect((await first.done).code).toBe(0);
    });
  });

  describe('and what is killed', () => {
    const SLOW = 'import time\ntime.sleep(2)\n';

    it.each(
      turn.of([
        ['the process that imports', (pid: number) => below(pid).at(-1)!],
        ['the root of its tree', (pid: number) => childrenOf(pid)[0]!],
        ['the warm parent itself', (pid: number) => pid],
      ]),
    )('while it imports: %s', async (_, victim) => {
      const script = makeScript('import slow\nprint("here")\n', { slow: SLOW });
      const parent = parentOf();
      const { process: warm } = await parent.start();
      const batch = batchIn(parent, script, { args: several(3) });
      const run = batch.run(PLAIN);
      await until(() => below(warm.pid!).length === 2);
      process.kill(victim(warm.pid!), 'SIGKILL');
      const { ends } = await run;
      expect(ends.map((end) => [end.exit_code, end.lost])).toEqual(several(3).map(() => [0, false]));
      expect(logs(batch, 3)).toEqual(several(3, 'here\n'));
    });

    const UNIT = `import json, os, signal, sys, time
n = json.load(open(sys.argv[2]))
if n == 1:
    time.sleep(0.5)
    VICTIM
time.sleep(1)
json.dump(n, open(sys.argv[4], 'w'))
sys.exit(3 if n == 1 else 0)
`;

    turn.it('by a unit: its parent, and running units keep their outcome', async () => {
      const script = makeScript(UNIT.replace('VICTIM', 'os.kill(os.getppid(), signal.SIGKILL)'));
      const parent = parentOf();
      await parent.start();
      const batch = batchIn(parent, script, { args: ['0', '1', '2', '3'] });
      const { ends, stderr } = await batch.run(PLAIN);
      expect(stderr).toContain('it ended');
      expect(ends.map((end) => [end.exit_code, end.output, end.lost])).toEqual([
        [0, '0', false],
        [3, null, false],
        [0, '2', false],
        [0, '3', false],
      ]);
      expect(ends[0]!.peak_memory_bytes).toBeGreaterThan(0);
    });

    turn.it('by a unit: the warm parent and all its tree, and the batch goes on', async () => {
      const script = makeScript(UNIT.replace('VICTIM', 'import victims; victims.kill()'), {
        victims: `import os, signal
def parent(pid): return int(open('/proc/%d/stat' % pid).read().rpartition(')')[2].split()[1])
def kill():
    head = parent(os.getppid())
    root = parent(head)
    top = parent(root)
    for pid in (top, root, head):
        try: os.kill(pid, signal.SIGKILL)
        except ProcessLookupError: pass  # it followed the one above it
`,
      });
      const parent = parentOf();
      const { done } = await parent.start();
      const batch = batchIn(parent, script, { args: ['0', '1', '2', '3'] });
      const { ends } = await batch.run(PLAIN);
      await done;
      expect(ends.map((end) => [end.exit_code, end.output, end.lost])).toEqual([
        [0, '0', false],
        [3, null, false],
        [0, '2', false],
        [0, '3', false],
      ]);
      const after = batchIn(parent, makeScript('print("cold")\n'));
      await after.run(PLAIN);
      expect(after.log(0).toString()).toBe('cold\n');
    });

    turn.it('is the worker: the next one tells what was lost and ends its processes', async () => {
      const pids = join(newFolder(), 'pids');
      const script = makeScript(
        `import os, subprocess, time, json, sys
if json.load(open(sys.argv[2])) < 2:
    child = subprocess.Popen(['sleep', '60'], start_new_session=True)
    open(${quoted(pids)}, 'a').write('%d\\n%d\\n' % (os.getpid(), child.pid))
    time.sleep(60)
`,
      );
      const parent = parentOf();
      await parent.start();
      const batch = batchIn(parent, script, { args: ['0', '1', '2', '3'], slots: 2 });
      const first = batch.start(PLAIN);
      const all = await until(() => {
        const found = existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : [];
        return found.length === 4 && running(batch).length === 2 && found;
      });
      first.process.kill('SIGKILL');
      await first.done;
      await batch.run(PLAIN);
      await until(() => !all.some(isAlive));
      expect(batch.ends().map((end) => [end.exit_code, end.lost])).toEqual([
        [null, true],
        [null, true],
        [0, false],
        [0, false],
      ]);
    });
  });

  turn.it('has units stopped with all that they began', async () => {
    const pids = join(newFolder(), 'pids');
    const script = makeScript(
      `import os, subprocess, time
child = subprocess.Popen(['sh', '-c', '(sleep 60 & echo $! >>${pids}) ; sleep 60'], start_new_session=True)
open(${quoted(pids)}, 'a').write('%d\\n%d\\n' % (os.getpid(), child.pid))
time.sleep(60)
`,
    );
    const parent = parentOf();
    await parent.start();
    const batch = batchIn(parent, script, { args: several(4), slots: 2 });
    const { process: worker, done } = batch.start(PLAIN);
    const all = await until(() => {
      const found = existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : [];
      return found.length === 6 && running(batch).length === 2 && found;
    });
    batch.control(2, true);
    worker.kill('SIGUSR1');
    expect(await done).toEqual({ code: 0, stderr: '' });
    expect(all.filter(isAlive)).toEqual([]);
    expect(batch.ends()).toMatchObject([
      { end: 0, stopped: true, signal: 15 },
      { end: 1, stopped: true, signal: 15 },
    ]);
  });

  turn.it('has processes ended that units leave behind, with the batch', async () => {
    const pids = join(newFolder(), 'pids');
    const script = makeScript(
      `import subprocess
child = subprocess.Popen(['sleep', '60'], start_new_session=True)
open(${quoted(pids)}, 'a').write('%d\\n' % child.pid)
`,
    );
    const parent = parentOf();
    await parent.start();
    await batchIn(parent, script, { args: several(2) }).run(PLAIN);
    const left = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    expect(left).toHaveLength(2);
    expect(left.filter(isAlive)).toEqual([]);
  });

  turn.it('is stopped while it imports for a batch', async () => {
    const script = makeScript('import slow\n', { slow: 'import time\ntime.sleep(60)\n' });
    const parent = parentOf();
    const { process: warm } = await parent.start();
    const batch = batchIn(parent, script, { args: several(2) });
    const { process: worker, done } = batch.start(PLAIN);
    await until(() => below(warm.pid!).length === 2);
    worker.kill('SIGTERM');
    await done;
    expect(batch.records().map((record) => Object.keys(record)[0])).toEqual([
      'worker',
      'slots',
      'importing',
      'stopping',
      'finished',
    ]);
  });

  it.each(
    turn.of([
      ['nonsense', 'nonsense', 'nonsense'],
      ['nothing', '', ''],
      ['numbers that are none', 'exit\\0x\\0y\\0z\\0', 'ready\\0x\\0y\\0z'],
      ['that it is every process', 'exit\\x001\\x000\\x000\\x000', 'ready\\x00-1\\x000\\x001'],
      ['that units ended which nobody ordered', 'exit', 'end\\x007\\x000\\x000\\x000'],
    ]),
  )('is replaced by a unit with something that says %s, and batches run all the same', async (_, news, word) => {
    const { folder } = parentOf();
    const strange = `import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
print('listens', flush=True)
worker = listener.accept()[0]
_, rights, _, _ = worker.recvmsg(65536, socket.CMSG_SPACE(4))
other = socket.socket(fileno=int.from_bytes(rights[0][2], sys.byteorder))
worker.send(b'${news}')
other.send(b'${word}')
`;
    const fake = spawn(python, ['-c', strange, join(folder, 'socket')], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => fake.stdout.once('data', resolve));
    const batch = batchIn({ folder }, makeScript('print("here")\n'), { args: several(2) });
    const { ends } = await batch.run(PLAIN);
    expect(ends.map((end) => [end.exit_code, end.lost])).toEqual([
      [0, false],
      [0, false],
    ]);
    expect(logs(batch, 2)).toEqual(['here\n', 'here\n']);
  });

  turn.it('does not begin in a folder that others can enter, and a worker does not ask in one', async () => {
    const script = makeScript('print("here")\n');
    const parent = parentOf();
    chmodSync(parent.folder, 0o755);
    const { done } = await parent.start();
    const { code, stderr } = await done;
    expect(code).not.toBe(0);
    expect(stderr).toContain('is open to other accounts');
    const batch = batchIn(parent, script);
    await batch.run(PLAIN);
    expect(batch.log(0).toString()).toBe('here\n');
  });

  turn.it.runIf(isRoot)('is not reached by another account', async () => {
    const parent = parentOf();
    await parent.start();
    const socket = join(parent.folder, 'socket');
    const connect = `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect(sys.argv[1])
    s.settimeout(5)
    print(s.recv(100))
except OSError as error:
    print(type(error).__name__)
`;
    const asNobody = () =>
      execFileSync('/usr/bin/python3', ['-c', connect, socket], { uid: 65534, gid: 65534, cwd: '/' }).toString().trim();
    expect(asNobody()).toBe('PermissionError');
    // even where the folder and the socket were opened meanwhile
    chmodSync(parent.folder, 0o755);
    chmodSync(socket, 0o777);
    expect(statSync(socket).mode & 0o777).toBe(0o777);
    expect(asNobody()).toBe("b''");
  });
});
