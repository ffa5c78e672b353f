/** What the worker and the service know of processes is the same by /proc and by `ps`, which tells it where there is no /proc. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { lifeFromPs } from '../../../src/processes.ts';

const RUNNERS = join(import.meta.dirname, '../../../src/runners');

/** By /proc and by `ps`: [state, parent, group, session, seconds since it began] of a process. */
const BOTH = `
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from worker import processes as p
pid = int(sys.argv[2])
uptime = float(open("/proc/uptime").read().split()[0])
def words(stat, age): return [stat.state, stat.parent, stat.group, stat.session, round(age)]
def by_proc(stat): return words(stat, uptime - int(stat.start_ticks) / os.sysconf("SC_CLK_TCK"))
def by_ps(stat): return words(stat, time.time() - int(stat.start_ticks))
table = p.table_by_ps("-A")
print(json.dumps([
    by_proc(p.process_stat(pid)), by_ps(p.table_by_ps("-p", str(pid))[pid]), by_ps(table[pid]),
    p.descendants(table, [os.getppid()]) >= {os.getpid(), pid},
    [one for one, stat in table.items() if stat.parent == os.getpid()], p.table_by_ps("-p", "999999999"),
]))
`;

type Facts = [state: string, parent: number, group: number, session: number, age: number];

describe('a process', () => {
  let child: ChildProcess;
  beforeAll(() => {
    child = spawn('sleep', ['600'], { detached: true });
  });
  afterAll(() => child.kill('SIGKILL'));

  it('is the same by /proc and by ps', () => {
    const printed = execFileSync('python3', ['-c', BOTH, RUNNERS, String(child.pid)], { encoding: 'utf8' });
    const [proc, one, all, isBelow, ofPs, nobody] = JSON.parse(printed) as [Facts, Facts, Facts, boolean, [], object];
    expect(proc.slice(0, 4)).toEqual(['S', process.pid, child.pid, child.pid]);
    for (const facts of [one, all]) {
      expect(facts.slice(0, 4)).toEqual(proc.slice(0, 4));
      expect(Math.abs(facts[4] - proc[4])).toBeLessThanOrEqual(2);
    }
    expect(isBelow).toBe(true);
    // ps itself is over, and nothing to be ended
    expect(ofPs).toEqual([]);
    expect(nobody).toEqual({});
  });

  it('has the same beginning for the service and for the worker', () => {
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    const words = ['-o', 'stat=', '-o', 'lstart=', '-p', String(child.pid)];
    const life = lifeFromPs(execFileSync('ps', words, { env, encoding: 'utf8' }).trim());
    const program = `import sys; sys.path.insert(0, sys.argv[1]); from worker import processes as p
print(p.table_by_ps("-p", sys.argv[2])[int(sys.argv[2])].start_ticks)`;
    const worker = execFileSync('python3', ['-c', program, RUNNERS, String(child.pid)], { encoding: 'utf8' });
    expect(life).toEqual({ hasEnded: false, started: worker.trim() });
  });
});

it.each([
  ['Ss   Tue Nov 17 04:35:21 2026', { hasEnded: false, started: '1794890121' }],
  ['Z+ Tue Nov  3 04:35:21 2026', { hasEnded: true, started: '1793680521' }],
  ['', undefined],
  ['S something else', undefined],
])('reads what ps prints: %j', (printed, life) => {
  expect(lifeFromPs(printed)).toEqual(life);
});
