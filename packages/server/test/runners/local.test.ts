/** Batches on this machine, as the service follows them. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, afterEach, expect, it, vi } from 'vitest';

import { localHost } from '../../src/hosts/index.ts';
import { writeBatch } from '../../src/runners/batch.ts';
import { createLocalRunner, type JournalRecord } from '../../src/runners/index.ts';
import { until } from '../support/until.ts';
import { cleanUp, newFolder, smallBatch } from './batch.ts';

afterAll(cleanUp);
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/**
 * Signs the lock, waits for a slot, and tells of a unit, all with the words of before. A signal is ignored: a function of its own
 * would be gone when Python ends, and the signal may come then.
 */
const EARLIER_WORKER = `import json, os, signal, sys, time
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
folder = sys.argv[1]
ticks = open('/proc/self/stat').read().rpartition(')')[2].split()[19]
open(folder + '/lock', 'w').write('%d %s' % (os.getpid(), ticks))
journal = open(folder + '/journal.jsonl', 'a', buffering=1)
def tell(**record): journal.write(json.dumps(record) + '\\n')
tell(worker=os.getpid(), started=ticks, boot='b', host='h', time=1.0, scheduler_job=7)
places = 0
while not places:
    time.sleep(0.02)
    try: places = json.load(open(folder + '/control.json'))['places']
    except OSError: pass
tell(places=places)
tell(start=0, time=2.0)
tell(running=0, pid=os.getpid(), started=ticks)
tell(end=0, time=3.0, exit_code=0, signal=None, cpu=0.5, memory=1024, out_of_memory=False, output=None, output_bytes=0,
     problem=None, stopped=False, lost=False, warnings=2, log_bytes=7, tail='')
tell(finished=True, stopped=False)
`;

it('a worker that runs since before an update of the service is told its slots, and its journal is read', async () => {
  const root = newFolder();
  const batch = smallBatch(root);
  await writeBatch(batch);
  const program = join(root, 'worker.py');
  writeFileSync(program, EARLIER_WORKER);
  const earlier = spawn('python3', [program, batch.folder], { stdio: 'inherit' });
  const ended = new Promise((resolve) => earlier.once('exit', resolve));
  while (!readFileSync(join(batch.folder, 'journal.jsonl'), 'utf8').includes('worker'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const said: JournalRecord[] = [];
  const following = { onRecords: (records: JournalRecord[]) => void said.push(...records), stop: never, leave: never };
  const runner = createLocalRunner({ host: localHost, slots: 3 }).with('python3');
  expect(await runner.run(batch, following)).toBe('finished');
  expect(await ended).toBe(0);
  expect(said).toMatchObject([
    { worker: earlier.pid, scheduler_job_id: 7 },
    { slots: 1 },
    { start: 0 },
    { running: 0 },
    { end: 0, exit_code: 0, cpu_seconds: 0.5, peak_memory_bytes: 1024, num_warnings: 2 },
    { finished: true },
  ]);
});

it('a line that no worker writes is left out and told, whoever wrote it', async () => {
  const batch = smallBatch(newFolder());
  await writeBatch(batch);
  const strange = ['{"end": 0, "time": 1, "exit_code": 0}', '{"hello": "world"}'];
  writeFileSync(join(batch.folder, 'journal.jsonl'), strange.map((line) => `${line}\n`).join(''));
  const [said, lines]: [JournalRecord[], string[]] = [[], []];
  const runner = createLocalRunner({ host: localHost, slots: 1 }).with('python3');
  const outcome = await runner.run(batch, {
    onRecords: (records) => void said.push(...records),
    say: (line) => void lines.push(line),
    stop: never,
    leave: never,
  });
  expect(outcome).toBe('finished');
  expect(said.filter((record) => 'end' in record)).toMatchObject([{ end: 0, exit_code: 0 }]);
  expect(lines).toEqual(['2 lines in the journal of the tasks were not written by the service and left out']);
});

/** Has read what it may do and does not say so yet, as one whose machine is busy; it goes on when there is a file `go`. */
const SLOW_WORKER = `import json, os, signal, sys, time
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
folder = sys.argv[1]
ticks = open('/proc/self/stat').read().rpartition(')')[2].split()[19]
open(folder + '/lock', 'w').write('%d %s' % (os.getpid(), ticks))
control = json.load(open(folder + '/control.json'))
while not os.path.exists(folder + '/go'): time.sleep(0.02)
journal = open(folder + '/journal.jsonl', 'a', buffering=1)
def tell(**record): journal.write(json.dumps(record) + '\\n')
tell(worker=os.getpid(), started=ticks, boot='b', host='h', time=1.0)
tell(slots=control['slots'], order=control['order'])
tell(start=0, time=2.0)
tell(end=0, time=3.0, exit_code=0, signal=None, cpu_seconds=0.5, peak_memory_bytes=None, out_of_memory=False, output=None,
     output_bytes=0, problem=None, stopped=False, lost=False, num_warnings=0, log_bytes=0, tail='')
tell(finished=True, stopped=False)
`;

const slotsOf = ({ folder }: { folder: string }) =>
  (JSON.parse(readFileSync(join(folder, 'control.json'), 'utf8')) as { slots: number }).slots;

it('a slot is nobody else’s while a worker may have read that it is its own', { timeout: 60_000 }, async () => {
  const root = newFolder();
  writeFileSync(join(root, 'slow.py'), SLOW_WORKER);
  writeFileSync(join(root, 'python'), `#!/bin/sh\nexec python3 ${join(root, 'slow.py')} "$4"\n`, { mode: 0o755 });
  const runner = createLocalRunner({ host: localHost, slots: 1 });
  const following = { onRecords: () => undefined, stop: never, leave: never };
  const [slow, other] = [smallBatch(newFolder()), smallBatch(newFolder())];
  const lock = join(slow.folder, 'lock');
  const first = runner.with(join(root, 'python')).run(slow, following);
  await until('the worker to have read', () => existsSync(lock) && readFileSync(lock, 'utf8').includes(' '));
  const second = runner.with('python3').run(other, following);
  await until('the turn of the other', () => slotsOf(slow) === 0);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(slotsOf(other)).toBe(0);
  writeFileSync(join(slow.folder, 'go'), '');
  expect(await Promise.all([first, second])).toEqual(['finished', 'finished']);
});

it('a slot is nobody else’s while the worker that it was given to is being started', async () => {
  // turns come when the test says so
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [slow, other] = [smallBatch(newFolder()), smallBatch(newFolder())];
  const launch: typeof localHost.launch = async (command, options) => {
    if (command.includes(slow.folder)) {
      begun.resolve();
      await go.promise;
    }
    return localHost.launch(command, options);
  };
  const runner = createLocalRunner({ host: { ...localHost, launch }, slots: 1 }).with('python3');
  const following = { onRecords: () => undefined, stop: never, leave: never };
  const first = runner.run(slow, following);
  await begun.promise;
  const second = runner.run(other, following);
  await until('the other one to wait', () => existsSync(join(other.folder, 'control.json')));
  vi.advanceTimersByTime(2000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect([slotsOf(slow), slotsOf(other)]).toEqual([1, 0]);
  go.resolve();
  expect(await Promise.all([first, second])).toEqual(['finished', 'finished']);
});
