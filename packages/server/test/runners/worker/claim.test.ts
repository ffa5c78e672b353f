/** Who has a pack: one worker, whatever the scheduler starts, and a successor where the first is gone. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { until } from '../../support/until.ts';
import {
  bash,
  cleanUp,
  interpreters,
  isAlive,
  makePacks,
  makeScript,
  newFolder,
  running,
  several,
  type PackOptions,
  turnsOf,
} from '../batch.ts';

afterAll(cleanUp);

const linesOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []);

describe.concurrent.each(interpreters().map((python) => ({ python })))(
  'a pack with $python belongs to one worker',
  ({ python }) => {
    const turn = turnsOf(python, 1);
    const packsOf = (options: PackOptions) => makePacks({ python, ...options });
    const seenBy = (seen: string, gate: string) =>
      bash(`printf '%s\\n' "$(cat "$2")" >> '${seen}'; until [ -e '${gate}' ]; do sleep 0.05; done`);
    const REFUSAL = 'Another job of the scheduler has these tasks, so that none is started here.\n';

    /** The outcomes of workers that want the same pack, which is over when the gate is open: all others have come before. */
    const rivals = async (workers: { done: Promise<{ code: number | null; stderr: string }> }[], gate: string) => {
      let ended = 0;
      for (const { done } of workers) void done.then(() => (ended += 1));
      await until(() => ended === workers.length - 1);
      writeFileSync(gate, '');
      return Promise.all(workers.map(({ done }) => done));
    };

    turn.it('also when several come at once: every unit starts once', async () => {
      const [seen, gate] = [join(newFolder(), 'seen'), join(newFolder(), 'gate')];
      const packs = packsOf({ command: seenBy(seen, gate), packs: [['0', '1', '2', '3', '4', '5']] });
      const workers = [1, 2, 3, 4, 5].map((id) => packs.start({ slurm: { SLURM_JOB_ID: id } }));
      const outcomes = await rivals(workers, gate);
      expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
      expect(outcomes.map(({ stderr }) => stderr).toSorted()).toEqual(['', ...several(4, REFUSAL)]);
      expect(linesOf(seen).toSorted()).toEqual(['0', '1', '2', '3', '4', '5']);
      expect(packs.records().filter((record) => 'worker' in record)).toHaveLength(1);
      expect(readdirSync(packs.outputs).toSorted()).toEqual(['r3-000000.claim', 'r3-000000.jsonl']);
    });

    const job = (id: number, restart = 0) => ({
      SLURM_JOB_ID: id,
      ...(restart ? { SLURM_RESTART_COUNT: restart } : {}),
    });
    /** A worker that was killed while units 1 and 2 ran; 0 had ended, 3 and 4 never began. What comes later waits for a gate. */
    const leaveOpen = async (slurm: Record<string, number>, { warm = false, gate = '' } = {}) => {
      const seen = join(newFolder(), 'seen');
      const script = makeScript(
        `import json, os, sys, time
n = json.load(open(sys.argv[2]))
open(${JSON.stringify(seen)}, 'a').write('%d %d\\n' % (n, os.getpid()))
print('unit', n, flush=True)
if n in (1, 2): time.sleep(60)
while n > 2 and ${JSON.stringify(gate)} and not os.path.exists(${JSON.stringify(gate)}): time.sleep(0.05)
`,
      );
      const packs = packsOf({ command: [python, script], packs: [['0', '1', '2', '3', '4']], warm, grace: 1 });
      const worker = packs.start({ slurm });
      await until(() => linesOf(seen).length === 3 && running(packs).length === 3);
      worker.process.kill('SIGKILL');
      await worker.done;
      const pids = linesOf(seen).map((line) => Number(line.split(' ')[1]));
      return { packs, pids, begun: () => linesOf(seen).map((line) => Number(line.split(' ')[0])) };
    };

    it.each(
      turn.of([
        ['the scheduler started the job again', job(7), job(7, 1), false],
        ['the scheduler started the job again, warm', job(7), job(7, 1), true],
        ['the job was started again for the third time', job(7, 1), job(7, 3), false],
        ['the process is gone, in the same job', job(7), job(7), false],
        ['the process is gone, without a scheduler', {}, {}, false],
      ]),
    )('and goes on with what never began when %s', async (_, before, now, warm) => {
      const { packs, pids, begun } = await leaveOpen(before, { warm });
      expect(await packs.start({ slurm: now }).done).toEqual({ code: 0, stderr: '' });
      expect(pids.filter(isAlive)).toEqual([]);
      expect(begun().toSorted()).toEqual([0, 1, 2, 3, 4]);
      expect(packs.ends().map((end) => [end.end, end.lost, end.exit_code, end.log])).toEqual(
        [0, 1, 2, 3, 4].map((n) => [n, n === 1 || n === 2, n === 1 || n === 2 ? null : 0, `unit ${n}\n`]),
      );
      const restarts = packs.records().flatMap((record) => ('worker' in record ? [record.restart] : []));
      const restart = (slurm: Record<string, number>) => slurm['SLURM_RESTART_COUNT'] ?? 0;
      expect(restarts).toEqual([restart(before), restart(now)]);
      expect(packs.records().at(-1)).toMatchObject({ finished: true, stopped: false });
    });

    it.each(
      turn.of([
        ['of another job', job(7), job(8)],
        ['of another job that was started again', job(7), job(8, 1)],
        ['of an earlier start', job(7, 2), job(7, 1)],
        ['without a scheduler', job(7), {}],
      ]),
    )('and a worker %s starts nothing', async (_, before, now) => {
      const { packs, begun } = await leaveOpen(before);
      const journal = readFileSync(packs.journalPath(), 'utf8');
      const claim = readFileSync(packs.claimPath(), 'utf8');
      expect(await packs.start({ slurm: now }).done).toEqual({ code: 0, stderr: REFUSAL });
      expect(begun()).toHaveLength(3);
      expect(readFileSync(packs.journalPath(), 'utf8')).toBe(journal);
      expect(readFileSync(packs.claimPath(), 'utf8')).toBe(claim);
      for (const { pid } of running(packs).filter((one) => isAlive(one.pid))) process.kill(pid, 'SIGKILL');
    });

    turn.it('and one of several that want to take it over gets it', async () => {
      const gate = join(newFolder(), 'gate');
      const { packs, begun } = await leaveOpen(job(7), { gate });
      const workers = [1, 2, 3, 4].map(() => packs.start({ slurm: job(7, 1) }));
      const outcomes = await rivals(workers, gate);
      expect(outcomes.map(({ stderr }) => stderr).toSorted()).toEqual(['', ...several(3, REFUSAL)]);
      expect(begun().toSorted()).toEqual([0, 1, 2, 3, 4]);
      expect(packs.records().filter((record) => 'worker' in record)).toHaveLength(2);
    });

    turn.it('and one that is over stays as it is', async () => {
      const packs = packsOf({ command: ['true'] });
      await packs.run({ slurm: job(7) });
      const journal = readFileSync(packs.journalPath(), 'utf8');
      expect(await packs.start({ slurm: job(7, 1) }).done).toEqual({ code: 0, stderr: '' });
      expect(readFileSync(packs.journalPath(), 'utf8')).toBe(journal);
    });

    turn.it('and a worker that the scheduler has forgotten ends when it sees its successor', async () => {
      const packs = packsOf({ command: bash('sleep 60'), packs: [several(1)], grace: 1 });
      // on another machine, whose processes the successor cannot see
      const first = packs.start({ slurm: { ...job(7), SLURMD_NODENAME: 'n1' } });
      const [unit] = await until(() => running(packs).length === 1 && running(packs));
      const claim = JSON.parse(readFileSync(packs.claimPath(), 'utf8')) as object;
      const successor = { ...claim, restart: 1, host: 'n2', boot: 'another', pid: 1 };
      writeFileSync(packs.claimPath(), JSON.stringify(successor));
      const { code, stderr } = await first.done;
      expect(code).toBe(0);
      expect(stderr).toBe('The scheduler has started this job again elsewhere, so that it ends here.\n');
      expect(isAlive(unit!.pid)).toBe(false);
      expect(packs.ends()).toEqual([]);
      expect(packs.records().some((record) => 'finished' in record)).toBe(false);
    });
  },
);
