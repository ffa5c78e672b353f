/** Units that are forked from a process of their batch, which imported once for all of them. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { oneIn } from '../../support/long.ts';
import { until } from '../../support/until.ts';
import {
  bash,
  cleanUp,
  interpreters,
  isAlive,
  makeBatch,
  makeScript,
  newFolder,
  type Options,
  pidsIn,
  running,
  several,
  starts,
  turnsOf,
} from '../batch.ts';
import { PLAIN } from '../warm-parent.ts';
import { MODULES, SCRIPTS, traces } from './scripts.ts';

afterAll(cleanUp);

describe.concurrent.each(interpreters().map((python) => ({ python })))(
  'the worker with $python forks units',
  ({ python }) => {
    const turn = turnsOf(python);
    const batchOf = (options: Options) => makeBatch({ python, ...options });

    // the others in warm-parent.test.ts, and each in both in long runs
    it.each(turn.of(oneIn(3, SCRIPTS, 1)))(
      'and a script that %s does what it does in a plain run',
      async (_, text, expected) => {
        const script = makeScript(text, MODULES);
        const folder = join(newFolder(), '0_task');
        const working_folder = newFolder();
        const outcomes = async (warm: boolean) => {
          rmSync(folder, { recursive: true, force: true });
          const options = { folder, warm, working_folder, environment: { Y: 'y' }, args: ['{"n": 0}', '{"n": 1}'] };
          const batch = batchOf({ command: [python, script], ...options });
          const { ends, stderr } = await batch.run(PLAIN);
          expect(stderr).toBe('');
          expect(existsSync(join(batch.batch, 'warm.txt'))).toBe(warm);
          return traces(batch, ends, working_folder);
        };
        const plain = await outcomes(false);
        const ended = plain.map((one) => (one.signal === null ? one.exit_code : `signal ${one.signal}`));
        expect(ended).toEqual([expected, expected]);
        expect(await outcomes(true)).toEqual(plain);
      },
    );

    turn.it('and imports once', async () => {
      const counter = join(newFolder(), 'imports');
      const modules = { costly: `open(${JSON.stringify(counter)}, 'a').write('x')\n` };
      const head = '"""Doc."""\nA = 1\nB: int = 2\ndef f(x=A): pass\nclass C: pass\n';
      const batch = batchOf({
        command: [python, makeScript(`${head}import costly\n`, modules)],
        args: several(4),
        warm: true,
      });
      const { ends } = await batch.run();
      expect(ends.map((end) => end.exit_code)).toEqual([0, 0, 0, 0]);
      expect(readFileSync(counter, 'utf8')).toBe('x');
    });

    turn.it('but not for one unit alone', async () => {
      const batch = batchOf({ command: [python, makeScript('import os\n')], warm: true });
      await batch.run();
      expect(existsSync(join(batch.batch, 'warm.txt'))).toBe(false);
    });

    turn.it('and each has random numbers of its own', async () => {
      const numbers = 'random.random(), uuid.uuid4(), next(tempfile._get_candidate_names())';
      const script = makeScript(`import random, uuid, tempfile\nprint(${numbers})\n`);
      const batch = batchOf({ command: [python, script], args: several(4), warm: true });
      await batch.run();
      const words = [0, 1, 2, 3].flatMap((n) => batch.log(n).toString().trim().split(' '));
      expect(words).toHaveLength(12);
      expect(new Set(words).size).toBe(12);
    });

    turn.it('and numpy gets a new seed', async () => {
      // Stands in for numpy, which few interpreters have: a seed that a fork copies, as numpy's is.
      const script = makeScript('import numpy.random\nprint(numpy.random.state)\n');
      mkdirSync(join(script, '../numpy'));
      writeFileSync(join(script, '../numpy/__init__.py'), '');
      const standIn =
        'import os\nstate = None\ndef seed():\n    global state\n    state = os.urandom(8).hex()\nseed()\n';
      writeFileSync(join(script, '../numpy/random.py'), standIn);
      const batch = batchOf({ command: [python, script], args: several(3), warm: true });
      await batch.run();
      const seeds = [0, 1, 2].map((n) => batch.log(n).toString());
      expect(seeds[0]).toMatch(/^[0-9a-f]{16}\n$/);
      expect(new Set(seeds).size).toBe(3);
    });

    turn.it('and tells their processes, slots and stop as for plain ones', async () => {
      const pids = join(newFolder(), 'pids');
      const script = makeScript(
        `import os, subprocess, time
child = subprocess.Popen(['sleep', '60'], start_new_session=True)
open(${JSON.stringify(pids)}, 'a').write('%d\\n%d\\n' % (os.getpid(), child.pid))
time.sleep(60)
`,
      );
      const batch = batchOf({ command: [python, script], args: several(4), warm: true, slots: 2 });
      const { process: worker, done } = batch.start();
      const all = await pidsIn(pids, 4);
      await until(() => running(batch).length === 2);
      for (const record of running(batch)) expect(all).toContain(record.pid);
      batch.control(2, true);
      worker.kill('SIGUSR1');
      expect(await done).toEqual({ code: 0, stderr: '' });
      expect(all.filter(isAlive)).toEqual([]);
      expect(starts(batch)).toHaveLength(2);
      expect(batch.ends()).toMatchObject([
        { end: 0, stopped: true, signal: 15 },
        { end: 1, stopped: true, signal: 15 },
      ]);
    });

    turn.it('and is stopped while it imports', async () => {
      const script = makeScript('import slow\n', { slow: 'import time\ntime.sleep(60)\n' });
      const batch = batchOf({ command: [python, script], args: several(2), warm: true });
      const { process: worker, done } = batch.start();
      await until(() => existsSync(join(batch.batch, 'warm.txt')));
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
        ['raise', 'raise ValueError("no")', 1, 'the imports ended with ValueError: no'],
        ['exit', 'import sys; sys.exit(4)', 4, 'the imports ended with SystemExit: 4'],
        ['leave at once', 'import os; os._exit(3)', 3, 'it ended'],
        [
          'leave a thread',
          'import threading, time; threading.Thread(target=time.sleep, args=(0.1,)).start()',
          0,
          'threads',
        ],
        [
          'leave a process',
          'import atexit, subprocess; atexit.register(subprocess.Popen(["sleep", "1"]).wait)',
          0,
          'processes',
        ],
        ['share a lock', 'import multiprocessing; lock = multiprocessing.get_context("fork").Lock()', 0, 'locks'],
      ]),
    )('but runs plain processes when the imports %s', async (_, text, exit_code, why) => {
      const script = makeScript('import odd\nprint("here")\n', { odd: `print("odd")\n${text}\n` });
      const batch = batchOf({ command: [python, script], args: several(3), warm: true });
      const { ends, stderr } = await batch.run(PLAIN);
      expect(stderr).toContain(why);
      expect(ends.map((end) => end.exit_code)).toEqual(several(3).map(() => exit_code));
      const logs: Record<number, RegExp> = {
        0: /^odd\nhere\n$/,
        1: /^odd\nTraceback[^]*ValueError: no\n$/,
        3: /^$/,
        4: /^odd\n$/,
      };
      expect(batch.log(2).toString()).toMatch(logs[exit_code]!);
    });

    it.each(
      turn.of([
        ['a command with options', (script: string) => [python, '-u', script], /^here\n$/],
        ['another program', () => bash('echo here'), /^here\n$/],
        ['a script that is no Python', () => [python, makeScript('def def\n')], /SyntaxError/],
      ]),
    )('but runs plain processes for %s', async (_, command, log) => {
      const batch = batchOf({ command: command(makeScript('print("here")\n')), args: several(2), warm: true });
      const { ends, stderr } = await batch.run();
      expect(stderr).toContain('No warm start');
      expect(ends).toHaveLength(2);
      expect(batch.log(1).toString()).toMatch(log);
    });

    turn.it('and when that process dies, running units keep their outcome and the others run plain', async () => {
      const script = makeScript(
        `import json, os, signal, sys, time
n = json.load(open(sys.argv[2]))
if n == 1:
  time.sleep(0.3)
  os.kill(os.getppid(), signal.SIGKILL)
time.sleep(0.6)
json.dump(n, open(sys.argv[4], 'w'))
print(n)
sys.exit(3 if n == 1 else 0)
`,
      );
      const batch = batchOf({ command: [python, script], args: ['0', '1', '2', '3'], warm: true, slots: 2 });
      const { ends, stderr } = await batch.run();
      expect(stderr).toContain('it ended');
      expect(ends.map((end) => [end.exit_code, end.output, end.lost])).toEqual([
        [0, '0', false],
        [3, null, false],
        [0, '2', false],
        [0, '3', false],
      ]);
      expect(running(batch)).toHaveLength(4);
    });
  },
);
