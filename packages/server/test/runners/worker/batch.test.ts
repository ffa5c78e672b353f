import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import { until } from '../../support/until.ts';
import {
  type Batch,
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
  stemOf,
  turnsOf,
} from '../batch.ts';

afterAll(cleanUp);

/** In a bash task. */
const [ARGS, OUT] = ['"$2"', '"$4"'];
const isRoot = process.getuid?.() === 0;
const canMount = isRoot && mounts();

function mounts() {
  const folder = newFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  }
}

/** Does `work` with a disk of the given size. */
async function withDisk(size: string, work: (folder: string) => Promise<void>) {
  const folder = newFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', folder]);
  try {
    await work(folder);
  } finally {
    execFileSync('umount', ['-l', folder]);
  }
}
const fill = (path: string) => {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=4k'], { stdio: 'ignore' });
  } catch {
    // dd ends with an error when the disk is full, as it should be.
  }
};

describe.concurrent.each(interpreters().map((python) => ({ python })))('the worker with $python', ({ python }) => {
  const turn = turnsOf(python);
  const batchOf = (options: Options) => makeBatch({ python, ...options });
  const runOne = async (options: Options) => {
    const batch = batchOf(options);
    const { ends } = await batch.run();
    return { batch, end: ends[0]! };
  };

  describe('tells how a unit ended', () => {
    it.each(
      turn.of([
        ['success', 'true', { exit_code: 0, signal: null, tail: '' }],
        ['an exit code', 'echo no; exit 3', { exit_code: 3, signal: null, tail: 'no\n', log_bytes: 3 }],
        ['the largest exit code', 'exit 255', { exit_code: 255, signal: null }],
        ['SIGKILL, without lack of memory', 'kill -9 $$', { exit_code: null, signal: 9, out_of_memory: false }],
        ['SIGSEGV', 'kill -SEGV $$', { exit_code: null, signal: 11 }],
        ['no output', 'true', { output: null, output_bytes: 0 }],
        ['an empty output', `: > ${OUT}`, { output: '', output_bytes: 0 }],
        [
          'an output as written',
          `printf '{"a": 1.0, "b": "é"} ' > ${OUT}`,
          { output: '{"a": 1.0, "b": "é"} ', output_bytes: 22 },
        ],
        ['that the output of a failure does not count', `echo 1 > ${OUT}; exit 1`, { output: null, output_bytes: 0 }],
        [
          'that the output is not text',
          `printf '\\xff' > ${OUT}`,
          { output: null, output_bytes: 1, output_not_text: true },
        ],
        [
          'that the output is not a file',
          `mkdir ${OUT}`,
          { output: null, problem: expect.stringContaining('not a file') },
        ],
        [
          'a pipe in place of the output',
          `mkfifo ${OUT}`,
          { output: null, problem: expect.stringContaining('not a file') },
        ],
        [
          'lines with warnings',
          'printf "a Warning\\nWARNING warning\\nnone\\nUsernum_warnings:"',
          { num_warnings: 3, exit_code: 0 },
        ],
        ['a log that is not text', `printf 'a\\xffb'; exit 1`, { tail: 'a\ufffdb', log_bytes: 3 }],
        ['a log with NUL', `printf 'a\\0b'; exit 1`, { tail: 'a\0b' }],
      ]),
    )('%s', async (_, script, expected) => {
      const { end } = await runOne({ command: bash(script) });
      expect(end).toMatchObject({ end: 0, problem: null, stopped: false, lost: false, ...expected });
    });

    turn.it('time, processor time and memory', async () => {
      const before = Date.now() / 1000;
      const script = makeScript('x = bytearray(60_000_000)\nfor i in range(2_000_000): pass\n');
      const { end, batch } = await runOne({ command: [python, script] });
      expect(end.cpu_seconds).toBeGreaterThan(0.02);
      expect(end.peak_memory_bytes).toBeGreaterThan(60_000_000);
      const start = starts(batch)[0]!;
      expect(start.time).toBeGreaterThanOrEqual(before - 0.1);
      expect(end.time).toBeGreaterThan(start.time!);
    });

    turn.it('that an output is too large, with its size', async () => {
      const { end } = await runOne({ command: bash(`printf 12345 > ${OUT}`), largest_output: 4 });
      expect(end).toMatchObject({ output: null, output_bytes: 5, output_too_large: true, exit_code: 0 });
      const exact = await runOne({ command: bash(`printf 1234 > ${OUT}`), largest_output: 4 });
      expect(exact.end).toMatchObject({ output: '1234', output_bytes: 4 });
    });

    turn.it('the end of a log of 20 MB, from a whole character on, and every warning in it', async () => {
      const script = makeScript(
        `import sys\nfor i in range(20): sys.stdout.write('é' * 499_997 + 'WarNing\\n')\nsys.exit(1)\n`,
      );
      const { end } = await runOne({ command: [python, script], environment: { PYTHONIOENCODING: 'utf-8' } });
      expect(end.log_bytes).toBe(20 * (2 * 499_997 + 8));
      expect(end.num_warnings).toBe(20);
      expect(end.tail.endsWith('éWarNing\n')).toBe(true);
      expect(end.tail).not.toContain('\ufffd');
      expect(Buffer.byteLength(end.tail)).toBeGreaterThan(16_000);
    });

    turn.it.runIf(isRoot && existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes'))('lack of memory', async () => {
      const group = `/sys/fs/cgroup/memory/${basename(newFolder())}`;
      mkdirSync(group);
      try {
        writeFileSync(join(group, 'memory.limit_in_bytes'), String(60 * 1024 * 1024));
        const inside = makeScript(`#!/bin/sh\necho $$ > ${group}/cgroup.procs\nexec ${python} "$@"\n`);
        execFileSync('chmod', ['755', inside]);
        const hungry = makeScript('import json, sys\nx = b"1" * json.load(open(sys.argv[2]))\nsys.exit(1)\n');
        const batch = batchOf({ command: [python, hungry], python: inside, args: ['1', '300000000'], slots: 1 });
        const { ends } = await batch.run();
        expect(ends).toMatchObject([
          { exit_code: 1, signal: null, out_of_memory: false },
          { exit_code: null, signal: 9, out_of_memory: true },
        ]);
      } finally {
        await until(() => readFileSync(join(group, 'cgroup.procs'), 'utf8').trim() === '');
        execFileSync('rmdir', [group]);
      }
    });
  });

  describe('starts a unit', () => {
    turn.it('with its files, named after it, as the last words of its command', async () => {
      const batch = batchOf({ command: bash('printf "%s\\n" "$@"'), args: ['{"a": 1.0}', '{"ä": "\ud83d\ude00"}'] });
      await batch.run();
      const file = (ending: string) => `${batch.folder}/${stemOf(1)}-${ending}`;
      expect(batch.log(1).toString()).toBe(`--args-json\n${file('args.json')}\n--out-json\n${file('metadiff.json')}\n`);
      expect(batch.text(`${stemOf(0)}-args.json`)).toBe('{"a": 1.0}');
      expect(batch.text(`${stemOf(1)}-args.json`)).toBe('{"ä": "\ud83d\ude00"}');
      expect(existsSync(file('metadiff.json'))).toBe(false);
    });

    turn.it('in a folder with spaces and brackets, which it makes', async () => {
      const folder = join(newFolder(), 'a (b) [c]', "d'e", 'f\ng');
      const { end } = await runOne({ command: bash(`cat ${ARGS} > ${OUT}`), folder, args: ['[1]'] });
      expect(end.output).toBe('[1]');
    });

    turn.it('with the environment of the worker and what the batch adds', async () => {
      const script = 'echo "$FRACTAL_CACHE_DIR $FROM_THE_WORKER ${LC_CTYPE-none}"';
      const batch = batchOf({ command: bash(script), environment: { FRACTAL_CACHE_DIR: '/a b' } });
      await batch.run({ PATH: process.env['PATH'], FROM_THE_WORKER: 'é' });
      expect(batch.log().toString()).toBe('/a b é none\n');
    });

    turn.it('in the working folder, found on the PATH, with an empty standard input', async () => {
      const working_folder = newFolder();
      const { batch } = await runOne({ command: ['bash', '-c', 'pwd; cat; echo end'], working_folder });
      expect(batch.log().toString()).toBe(`${working_folder}\nend\n`);
    });

    turn.it(
      'as the leader of a session of its own, with signals and descriptors as a fresh program has them',
      async () => {
        const script =
          'grep -E "SigBlk|SigIgn" /proc/self/status; ls /proc/self/fd; echo $$; cut -d" " -f5,6 /proc/$$/stat';
        const { batch } = await runOne({ command: bash(script) });
        const [blocked, ignored, ...rest] = batch.log().toString().trim().split('\n');
        expect(blocked).toBe('SigBlk:\t0000000000000000');
        // The C library keeps 32 and 33 for itself and sets them in every program that it starts.
        expect(BigInt(`0x${ignored!.split('\t')[1]}`) & ~0x180000000n).toBe(0n);
        const [pid, ids] = rest.slice(-2);
        expect(ids).toBe(`${pid} ${pid}`);
        expect(rest.slice(0, -2)).toEqual(['0', '1', '2', '3']); // the last one is of ls
      },
    );

    turn.it('with an empty log and without the output of an earlier run', async () => {
      const batch = batchOf({ command: bash(`test -e ${OUT} && echo there; echo new`) });
      mkdirSync(batch.folder);
      writeFileSync(join(batch.folder, `${stemOf(0)}-log.txt`), 'old and long warning');
      writeFileSync(join(batch.folder, `${stemOf(0)}-metadiff.json`), '{}');
      expect((await batch.run()).ends[0]).toMatchObject({ output: null, num_warnings: 0, exit_code: 0 });
      expect(batch.log().toString()).toBe('new\n');
    });

    turn.it('after its start record, and tells its process', async () => {
      const batch = batchOf({ command: bash('echo $$; echo $PPID'), slots: 1, args: several(3) });
      const { records } = await batch.run();
      expect(records.map((record) => Object.keys(record)[0])).toEqual([
        'worker',
        'slots',
        ...several(3).flatMap(() => ['start', 'running', 'end']),
        'finished',
      ]);
      const worker = records[0]!;
      expect(worker).toEqual({
        worker: expect.any(Number),
        started: expect.stringMatching(/^\d+$/),
        boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
        host: expect.any(String),
        time: expect.any(Number),
      });
      const [pid, parent] = batch.log(2).toString().trim().split('\n').map(Number);
      expect(running(batch)[2]).toEqual({ running: 2, pid, started: expect.stringMatching(/^\d+$/) });
      expect(parent).toBe(worker.worker);
      expect(records.at(-1)).toEqual({ finished: true, stopped: false });
    });
  });

  describe('goes on when a unit cannot start, and says why', () => {
    it.each(
      turn.of([
        ['a program that is not on the PATH', ['no-such-program'], 'Cannot start no-such-program'],
        ['a program that is not there', ['/no/such/program'], 'Cannot start /no/such/program'],
        ['a file that is not executable', ['/etc/passwd'], 'Cannot start /etc/passwd'],
        ['a folder', ['/tmp'], 'Cannot start /tmp'],
      ]),
    )('%s', async (_, command, problem) => {
      const { ends, records } = await batchOf({ command: [...command], args: several(3) }).run();
      expect(ends.map((end) => end.problem)).toEqual(several(3, expect.stringContaining(problem)));
      expect(ends[0]).toMatchObject({ exit_code: null, signal: null, lost: false, output: null });
      expect(records.at(-1)).toEqual({ finished: true, stopped: false });
    });

    turn.it('a program without a known format', async () => {
      const program = makeScript('\0nothing');
      execFileSync('chmod', ['755', program]);
      const { end } = await runOne({ command: [program] });
      expect(end.problem).toBe(`Cannot start ${program}: Exec format error.`);
    });

    turn.it('a working folder that is gone', async () => {
      const { end } = await runOne({ command: ['true'], working_folder: '/no/such/folder' });
      expect(end.problem).toBe('Cannot enter the folder /no/such/folder: No such file or directory.');
    });

    turn.it('a folder that cannot be made', async () => {
      const file = makeScript('');
      const { end } = await runOne({ command: ['true'], folder: `${file}/0_task` });
      expect(end.problem).toBe(`Cannot create the folder ${file}/0_task: Not a directory.`);
    });

    turn.it('a log that cannot be created, only for that unit', async () => {
      const batch = batchOf({ command: ['true'], args: several(2) });
      const log = join(batch.folder, `${stemOf(0)}-log.txt`);
      mkdirSync(log, { recursive: true });
      const { ends } = await batch.run();
      expect(ends[0]!.problem).toBe(`Cannot create ${log}: Is a directory.`);
      expect(ends[1]).toMatchObject({ problem: null, exit_code: 0 });
    });

    turn.it('a folder without permission to write', async () => {
      const folder = newFolder();
      // root may write everywhere, so that its folder is on a disk that nobody may write to
      if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', folder]);
      else execFileSync('chmod', ['555', folder]);
      try {
        const { end } = await runOne({ command: ['true'], folder });
        const words = isRoot ? 'Read-only file system' : 'Permission denied';
        expect(end.problem).toBe(`Cannot write ${folder}/${stemOf(0)}-args.json: ${words}.`);
      } finally {
        if (isRoot) execFileSync('umount', ['-l', folder]);
      }
    });

    turn.it.runIf(canMount)('a full disk', () =>
      withDisk('64k', async (folder) => {
        fill(join(folder, 'much'));
        const batch = batchOf({ command: ['true'], folder, args: several(2, 'x'.repeat(10_000)) });
        const { ends } = await batch.run();
        const problem = (n: number) => `Cannot write ${folder}/${stemOf(n)}-args.json: No space left on device.`;
        expect(ends.map((end) => end.problem)).toEqual([problem(0), problem(1)]);
      }),
    );
  });

  turn.it.runIf(canMount)('waits with new units while the journal cannot be written, and loses nothing', () =>
    withDisk('256k', async (disk) => {
      const seen = join(newFolder(), 'seen');
      const command = bash(`echo $$ >> '${seen}'; sleep 0.05; echo '{"n": 1}' > ${OUT}`);
      const options = { command, args: several(40, 'y'), slots: 0, folder: newFolder() };
      const batch = batchOf({ ...options, batchFolder: join(disk, 'batch') });
      const worker = batch.start();
      await until(() => batch.records().some((record) => 'slots' in record));
      batch.control(1);
      await pidsIn(seen, 2);
      fill(join(disk, 'much'));
      // The page that the journal has already may take some more records.
      const count = () => readFileSync(seen, 'utf8').split('\n').length;
      await until('no more units to begin', async () => {
        const before = count();
        await sleep(1200);
        return count() === before;
      });
      const full = batch.records().length;
      expect(count()).toBeLessThan(41);
      rmSync(join(disk, 'much'));
      expect((await worker.done).code).toBe(0);
      expect(batch.records().length).toBeGreaterThan(full);
      expect(batch.ends().map((end) => [end.end, end.exit_code, end.output])).toEqual(
        several(40).map((_, n) => [n, 0, '{"n": 1}\n']),
      );
      expect(count()).toBe(41);
    }),
  );

  turn.it('obeys the number of slots, also while it runs', async () => {
    const folder = newFolder();
    const times = join(folder, 'times');
    const command = bash(`echo "+ $(date +%s%N)" >> '${times}'; sleep 0.3; echo "- $(date +%s%N)" >> '${times}'`);
    const batch = batchOf({ command, args: several(9), slots: 0 });
    const { process: worker, done } = batch.start();
    await until(() => batch.records().some((record) => record.slots === 0));
    await sleep(300);
    expect(existsSync(times)).toBe(false);

    batch.control(2);
    worker.kill('SIGUSR1');
    await until(() => batch.ends().length >= 4);
    batch.control(1);
    worker.kill('SIGUSR1');
    await until(() => batch.records().some((record) => record.slots === 1));
    // A control file that is cut off or gone changes nothing.
    writeFileSync(join(batch.batch, 'control.json'), '{"slots": 5');
    worker.kill('SIGUSR1');
    await sleep(100);
    rmSync(join(batch.batch, 'control.json'));
    await done;

    const slots = batch.records().filter((record) => 'slots' in record);
    expect(slots.map((record) => record.slots)).toEqual([0, 2, 1]);
    const order = batch.records();
    const tightened = order.findIndex((record) => record.slots === 1);
    const runningAt = (index: number) =>
      order.slice(0, index).filter((record) => 'start' in record).length -
      order.slice(0, index).filter((record) => 'end' in record).length;
    const most = (from: number, to: number) =>
      Math.max(...order.slice(from, to).flatMap((record, i) => ('start' in record ? [runningAt(from + i + 1)] : [])));
    expect(most(0, tightened)).toBe(2);
    expect(most(tightened, order.length)).toBe(1);
    // What the tasks themselves saw.
    let now = 0;
    let peak = 0;
    const lines = readFileSync(times, 'utf8').trim().split('\n');
    for (const [sign] of lines.map((line) => line.split(' ')).sort((a, b) => Number(a[1]) - Number(b[1]))) {
      now += sign === '+' ? 1 : -1;
      peak = Math.max(peak, now);
    }
    expect([lines.length, now, peak]).toEqual([18, 0, 2]);
  });

  turn.it('notices a control file without being told', async () => {
    const batch = batchOf({ command: ['true'], slots: 0 });
    const { done } = batch.start();
    await until(() => batch.records().some((record) => record.slots === 0));
    batch.control(1);
    await done;
    expect(batch.ends()).toHaveLength(1);
  });

  turn.it('does nothing while it waits', async () => {
    const batch = batchOf({ command: bash('sleep 2.5') });
    const { process: worker, done } = batch.start();
    await until(() => running(batch).length);
    const cpu = () => {
      const fields = readFileSync(`/proc/${worker.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    const before = cpu();
    await sleep(1500);
    expect(cpu() - before).toBeLessThanOrEqual(2); // hundredths of a second
    await done;
  });

  describe('stops', () => {
    /** A unit with a child, and a grandchild that has left the session and the parent. */
    const family = (pids: string, ignoring = false) => {
      const trap = ignoring ? "trap '' TERM; " : '';
      return bash(
        `${trap}echo $$ >> '${pids}'; sleep 60 & echo $! >> '${pids}'; ` +
          `(setsid bash -c '${trap.replaceAll("'", `"`)}echo $$ >> "${pids}"; sleep 60; sleep 60' &) ; sleep 60; sleep 60`,
      );
    };

    it.each(
      turn.of([
        ['by the control file', (batch: Batch) => batch.control(1, true)],
        ['by SIGTERM', (_: Batch, pid: number) => process.kill(pid, 'SIGTERM')],
      ]),
    )('%s: ends children and grandchildren, starts nothing more', async (_, stop) => {
      const pids = join(newFolder(), 'pids');
      const batch = batchOf({ command: family(pids), args: several(3), slots: 1 });
      const { process: worker, done } = batch.start();
      const all = await pidsIn(pids, 3);
      stop(batch, worker.pid!);
      expect((await done).code).toBe(0);
      expect(all.filter(isAlive)).toEqual([]);
      expect(starts(batch)).toHaveLength(1);
      expect(batch.ends()).toMatchObject([{ end: 0, stopped: true, signal: 15, exit_code: null, lost: false }]);
      expect(batch.records()).toContainEqual({ stopping: true });
      expect(batch.records().at(-1)).toEqual({ finished: true, stopped: true });
    });

    turn.it('by force after five seconds', async () => {
      const pids = join(newFolder(), 'pids');
      const batch = batchOf({ command: family(pids, true), slots: 1 });
      const { process: worker, done } = batch.start();
      const all = await pidsIn(pids, 3);
      const before = Date.now();
      batch.control(1, true);
      worker.kill('SIGUSR1');
      await done;
      expect(Date.now() - before).toBeGreaterThan(4500);
      expect(all.filter(isAlive)).toEqual([]);
      expect(batch.ends()).toMatchObject([{ stopped: true, signal: 9, out_of_memory: false }]);
    });

    turn.it('keeps the outcome of what had ended', async () => {
      const flag = join(newFolder(), 'flag');
      const command = bash(`if mkdir '${flag}'; then echo 1 > ${OUT}; else sleep 60; fi`);
      const batch = batchOf({ command, args: several(5), slots: 1 });
      const { done } = batch.start();
      await until(() => running(batch).length === 2);
      batch.control(1, true);
      await done;
      expect(batch.ends()).toMatchObject([
        { exit_code: 0, output: '1\n', stopped: false },
        { exit_code: null, output: null, stopped: true },
      ]);
    });

    turn.it('before anything began', async () => {
      const batch = batchOf({ command: ['true'] });
      batch.control(2, true);
      const { records } = await batch.run();
      expect(records.map((record) => Object.keys(record)[0])).toEqual(['worker', 'slots', 'stopping', 'finished']);
    });
  });

  turn.it('ends what its units left behind, when it leaves', async () => {
    const folder = newFolder();
    const left = `(setsid bash -c 'echo $$ > "${folder}/$0"; sleep 60; sleep 60' "$(basename "$2")" &)`;
    const written = `until [ -s "${folder}/$(basename "$2")" ]; do sleep 0.01; done`;
    const batch = batchOf({ command: bash(`${left}; ${written}`), args: several(2) });
    const { ends } = await batch.run();
    expect(ends.map((end) => [end.exit_code, end.stopped])).toEqual([
      [0, false],
      [0, false],
    ]);
    const pids = [0, 1].map((n) => Number(readFileSync(join(folder, `${stemOf(n)}-args.json`), 'utf8')));
    expect(pids.every((pid) => pid > 0)).toBe(true);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(batch.records().at(-1)).toEqual({ finished: true, stopped: false });
  });

  describe('that comes after another one', () => {
    turn.it('leaves at once when the other one is alive', async () => {
      const folder = newFolder();
      const batch = batchOf({ command: bash(`until [ -e '${folder}/go' ]; do sleep 0.05; done`) });
      const first = batch.start();
      await until(() => running(batch).length);
      const before = readFileSync(batch.journalPath, 'utf8');
      expect(await batch.start().done).toEqual({ code: 0, stderr: '' });
      expect(readFileSync(batch.journalPath, 'utf8')).toBe(before);
      writeFileSync(join(folder, 'go'), '');
      await first.done;
      expect(batch.records().filter((record) => 'worker' in record)).toHaveLength(1);
    });

    turn.it('leaves at once when everything is finished', async () => {
      const batch = batchOf({ command: ['true'] });
      await batch.run();
      const before = readFileSync(batch.journalPath, 'utf8');
      await batch.run();
      expect(readFileSync(batch.journalPath, 'utf8')).toBe(before);
    });

    it.each(
      turn.of([
        ['plain units', false],
        ['warm units', true],
      ]),
    )('starts nothing twice, tells what was lost and ends its processes: %s', async (_, warm) => {
      const seen = join(newFolder(), 'seen');
      const script = makeScript(
        `import json, sys, os, time, subprocess\n` +
          `n = json.load(open(sys.argv[2]))\n` +
          `child = subprocess.Popen(['sleep', '60']) if n in (2, 3) else None\n` +
          `open(${JSON.stringify(seen)}, 'a').write('%d %d %d\\n' % (n, os.getpid(), child.pid if child else 0))\n` +
          `print('Warning', n, flush=True)\n` +
          `if child: time.sleep(60)\n`,
      );
      const batch = batchOf({ command: [python, script], args: ['0', '1', '2', '3', '4', '5'], slots: 2, warm });
      const lines = () => (existsSync(seen) ? readFileSync(seen, 'utf8').trim().split('\n') : []);
      const first = batch.start();
      await until(() => lines().length === 4 && running(batch).length === 4);
      first.process.kill('SIGKILL');
      await first.done;
      const left = lines()
        .flatMap((line) => line.split(' ').slice(1).map(Number))
        .filter((pid) => pid && isAlive(pid));
      expect(left).toHaveLength(4);
      appendFileSync(batch.journalPath, '{"start": 5, "ti'); // torn: never started

      expect(await batch.start().done).toMatchObject({ code: 0 });
      expect(left.filter(isAlive)).toEqual([]);
      expect(
        lines()
          .map((line) => Number(line.split(' ')[0]))
          .sort(),
      ).toEqual([0, 1, 2, 3, 4, 5]);
      expect(batch.ends().map((end) => [end.end, end.lost, end.exit_code, end.stopped])).toEqual(
        [0, 1, 2, 3, 4, 5].map((n) => [n, n === 2 || n === 3, n === 2 || n === 3 ? null : 0, false]),
      );
      expect(batch.ends()[2]).toMatchObject({ num_warnings: 1, tail: 'Warning 2\n', peak_memory_bytes: null });
      const text = readFileSync(batch.journalPath, 'utf8');
      expect(text).toContain('{"start": 5, "ti\n{"worker"');
      expect(batch.records().at(-1)).toEqual({ finished: true, stopped: false });
    });

    turn.it('finds the process of a unit that has no running record', async () => {
      const pids = join(newFolder(), 'pids');
      const batch = batchOf({ command: bash(`echo $$ >> '${pids}'; exec sleep 60`) });
      const first = batch.start();
      const [pid] = await pidsIn(pids, 1);
      await until(() => running(batch).length);
      first.process.kill('SIGKILL');
      await first.done;
      const kept = readFileSync(batch.journalPath, 'utf8')
        .split('\n')
        .filter((line) => !line.includes('"running"'));
      writeFileSync(batch.journalPath, kept.join('\n'));
      await batch.run();
      expect(isAlive(pid!)).toBe(false);
      expect(batch.ends()).toMatchObject([{ lost: true }]);
    });

    turn.it('leaves a process alone that only has the same number', async () => {
      const batch = batchOf({ command: ['true'], args: several(2) });
      const stranger = batchOf({ command: bash('sleep 3') });
      const other = stranger.start();
      const { pid } = await until(() => running(stranger)[0]);
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      const past = [
        { worker: 1, started: '1', boot, host: 'h', time: 1 },
        { start: 0, time: 1 },
        { running: 0, pid, started: '12' },
      ];
      writeFileSync(batch.journalPath, past.map((record) => `${JSON.stringify(record)}\n`).join(''));
      await batch.run();
      expect(isAlive(pid)).toBe(true);
      expect(batch.ends()).toMatchObject([
        { end: 0, lost: true },
        { end: 1, lost: false, exit_code: 0 },
      ]);
      await other.done;
    });
  });

  turn.it('reads its units as a stream', async () => {
    const n = 200_000;
    const batch = batchOf({ command: ['true'], args: several(n, 'x'.repeat(200)), slots: 0 });
    expect(statSync(join(batch.batch, 'units.jsonl')).size).toBeGreaterThan(40_000_000);
    const { process: worker, done } = batch.start();
    await until(() => batch.records().some((record) => 'slots' in record));
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))![1];
    expect(Number(peak)).toBeLessThan(40_000);
    worker.kill('SIGTERM');
    await done;
  });
});
