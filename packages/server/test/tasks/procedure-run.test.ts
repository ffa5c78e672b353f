import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import type { ActivityStep } from '@service/contract';

import { localHost, type ProcessHandle } from '../../src/hosts/index.ts';
import { createProcedureRun, type ProcedureOptions, StepFailed } from '../../src/tasks/procedures/procedure-run.ts';
import { temporaryFolder } from '../support/file-end.ts';
import { until } from '../support/until.ts';

function startRun(options: Partial<ProcedureOptions> = {}) {
  const saved: { log: string; steps: ActivityStep[] }[] = [];
  const remembered: (ProcessHandle | null)[] = [];
  const run = createProcedureRun({
    host: localHost,
    name: 'collect',
    steps: ['one', 'two', 'three'],
    log: '',
    save: async (log, steps) => void saved.push({ log, steps: structuredClone(steps) }),
    remember: async (handle) => void remembered.push(handle),
    ...options,
  });
  return {
    run,
    saved,
    remembered,
    log: () => saved.at(-1)?.log ?? '',
    states: () => saved.at(-1)!.steps.map(({ status }) => status),
  };
}

describe('steps', () => {
  it('are pending, then ongoing, then OK, failed or skipped', async () => {
    const { run, saved, states } = startRun();
    const seen: string[][] = [];
    expect(await run.step('one', async () => (seen.push(states()), 'result'))).toBe('result');
    run.skip('two');
    const problem = new StepFailed('There is no disk.');
    const failing = run.step('three', async () => {
      seen.push(states());
      throw problem;
    });
    await expect(failing).rejects.toBe(problem);
    await run.close(problem.message);
    expect([...seen, states()]).toEqual([
      ['ongoing', 'pending', 'pending'],
      ['OK', 'skipped', 'ongoing'],
      ['OK', 'skipped', 'failed'],
    ]);
    const [one, two, three] = saved.at(-1)!.steps;
    expect([one!.detail, three!.detail]).toEqual([null, 'There is no disk.']);
    expect(Date.parse(one!.timestamp_ended!)).toBeGreaterThanOrEqual(Date.parse(one!.timestamp_started!));
    expect([two!.timestamp_started, two!.timestamp_ended]).toEqual([null, null]);
    expect(saved.at(-1)!.log).toMatch(
      /^[\d-]+ [\d:,]+ - collect - INFO - Step one\n.* - INFO - Step three\n.* - ERROR - Failed: There is no disk\.\n$/,
    );
  });

  it('that fail say why before anybody is told that it failed, and say it once', async () => {
    const { run, log } = startRun();
    await expect(run.step('one', () => Promise.reject(new Error('No disk.')))).rejects.toThrow();
    expect(log()).toMatch(/ - Failed: No disk\.\n$/);
    await run.fail('No disk.');
    await run.close('No disk.');
    expect(log().match(/Failed/g)).toHaveLength(1);
  });

  it('do not begin once this is to stop', async () => {
    const control = new AbortController();
    const { run, states } = startRun({ signal: control.signal, startsOver: () => control.signal.aborted });
    const lost = new Error('Another process does this now.');
    await run.step('one', async () => control.abort(lost));
    let begun = false;
    await expect(run.step('two', async () => void (begun = true))).rejects.toBe(lost);
    await expect(run.command(['true'])).rejects.toBe(lost);
    await expect(run.stillOurs()).rejects.toBe(lost);
    expect([begun, states()]).toEqual([false, ['OK', 'ongoing', 'pending']]);
  });

  it('go on when what there is cannot be stored', async () => {
    const { run } = startRun({ save: () => Promise.reject(new Error('no database')) });
    expect(await run.step('one', async () => 1)).toBe(1);
    await run.close();
  });

  it('are stored one state after the other, also when storing is slow', async () => {
    const order: string[] = [];
    const { run } = startRun({
      save: async (_, steps) => {
        const state = steps[0]!.status;
        await sleep(state === 'ongoing' ? 50 : 1);
        order.push(state);
      },
    });
    await run.step('one', async () => undefined);
    await run.close();
    expect(order).toEqual(['ongoing', 'OK', 'OK']);
  });
});

describe('a command', () => {
  it('is ended once this is to stop, and does not count as failed', async () => {
    const control = new AbortController();
    const { run, remembered, states } = startRun({
      signal: control.signal,
      startsOver: () => control.signal.aborted,
    });
    const lost = new Error('Another process does this now.');
    const running = run.step('one', () => run.command(['sleep', '600']));
    const ended = expect(running).rejects.toBe(lost);
    const handle = await until('the command', () => remembered[0]);
    control.abort(lost);
    await ended;
    expect([await localHost.isAlive(handle), states()[0]]).toEqual([false, 'ongoing']);
  });
});

describe('the log', () => {
  it('grows while a command runs, and not with every line', async () => {
    const { run, saved, log } = startRun();
    let ended = false;
    const gate = join(temporaryFolder('procedure-run'), 'gate');
    const print = `for i in $(seq 100); do echo line $i; done; until [ -e '${gate}' ]; do echo tick; sleep 0.1; done; echo over`;
    const running = run.step('one', () => run.command(['sh', '-c', print])).then(() => (ended = true));
    await until('the lines', () => log().includes('line 100'));
    expect([ended, log().includes('over\n')]).toEqual([false, false]);
    // stored every second, in which the command comes to ten of them at most
    expect(log().match(/tick\n/g)?.length ?? 0).toBeLessThan(15);
    writeFileSync(gate, '');
    await running;
    expect(log()).toContain('over\n');
    expect(saved.length).toBeLessThan(6);
  });

  it('goes on where an earlier attempt ended', async () => {
    const { run, log } = startRun({ log: 'earlier\n', now: () => new Date(0) });
    run.say('later');
    await run.close();
    expect(log()).toBe('earlier\n1970-01-01 00:00:00,000 - collect - INFO - later\n');
  });

  it('has time, name and level on every line, also of what programs print in pieces', async () => {
    const { run, log } = startRun({ now: () => new Date(0) });
    run.show('from a j', 'job');
    run.show('from another\n', 'other job');
    run.show('ob\nno end', 'job');
    run.say('two\nlines', 'WARNING');
    await run
      .step('one', () => run.command(['sh', '-c', 'printf "one\\n\\ntwo"; sleep 0.1; printf " more" >&2']))
      .catch(Boolean);
    await run.close('it\nbroke');
    const line = (level: string, text: string) => `1970-01-01 00:00:00,000 - collect - ${level} - ${text}`;
    const lines = log().split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.slice(0, 6)).toEqual([
      line('DEBUG', 'from another'),
      line('DEBUG', 'from a job'),
      line('DEBUG', 'no end'),
      line('WARNING', 'two'),
      line('WARNING', 'lines'),
      line('INFO', 'Step one'),
    ]);
    expect(lines.slice(7, 9)).toEqual([line('DEBUG', 'one'), line('DEBUG', '')]);
    expect(lines.slice(9, 11).sort()).toEqual([line('DEBUG', ' more'), line('DEBUG', 'two')]);
    expect(lines.slice(11)).toEqual([line('ERROR', 'Failed: it'), line('ERROR', 'broke')]);
  });

  it('shows what is printed without an end of line in pieces, and does not hold all of it', async () => {
    const { run, log } = startRun();
    for (let piece = 0; piece < 50; piece++) run.show('x'.repeat(1000));
    await run.step('one', async () => undefined);
    expect(log().match(/ - DEBUG - x{10000,12000}\n/g)).toHaveLength(4);
    await run.close();
  });

  it.each([
    ['in one attempt', ''],
    ['over two attempts', 'B'.repeat(900_000)],
  ])('that is very long loses its middle, %s', async (_, earlier) => {
    const { run, log } = startRun({ log: earlier });
    run.say('the beginning');
    // two halves of a character stand where the cuts are, wherever those are
    for (let part = 0; part < 40; part++) run.say('🙂'.repeat(50_000 + part));
    run.say('the end');
    await run.close();
    expect(log().length).toBeLessThan(1_500_000);
    expect(log()).toMatch(earlier === '' ? /^.* - the beginning\n/ : /^BBB/);
    expect(log().endsWith(' - the end\n')).toBe(true);
    expect(log()).toMatch(/ - WARNING - … \d+ characters left out …\n/);
    expect(log().isWellFormed()).toBe(true);
  });

  it('counts what it left out', async () => {
    const { run, log } = startRun({ log: 'B'.repeat(1_000_000) });
    await run.close();
    expect(log()).toContain(' - WARNING - … 200000 characters left out …\n');
  });

  it('holds no characters that a database does not store', async () => {
    const { run, log } = startRun();
    run.say('a\u0000b\ud800c\udc00');
    await run.step('one', () => run.command(['printf', 'x\\000y\\377z']));
    await run.close();
    expect(log()).toContain(' - a\uFFFDb\uFFFDc\uFFFD\n');
    expect(log()).toContain('x\uFFFDy\uFFFDz');
    expect(log().isWellFormed() && !log().includes('\u0000')).toBe(true);
  });

  it.each([
    ['https://me:secret@example.org/simple', 'https://***@example.org/simple'],
    ['git+https://secret@example.org/a.git@main', 'git+https://***@example.org/a.git@main'],
    ['https://me:secret@secret@example.org', 'https://***@example.org'],
    ['https://example.org/a@1', 'https://example.org/a@1'],
  ])('shows no credentials of %s', async (address, shown) => {
    const { run, saved, log } = startRun();
    const work = run.step('one', () =>
      run.command(['sh', '-c', 'echo "$1"; echo "cannot reach $1" >&2; exit 1', '-', address]),
    );
    await expect(work).rejects.toThrow(`sh ended with 1: cannot reach ${shown}`);
    await run.close(`cannot reach ${address}`);
    // the command, its two lines, the step that failed and the end
    expect(log().split(shown).length - 1).toBe(5);
    expect(JSON.stringify(saved)).not.toContain('secret');
  });

  it('shows commands as they could be typed', async () => {
    const { run, log } = startRun();
    await run.command(['true', '--a=b', 'two words', '', 'a[b]==1']);
    await run.close();
    expect(log()).toContain(' - INFO - $ true --a=b "two words" "" a[b]==1\n');
  });
});

describe('a command', () => {
  it('gives back what it printed, without the warnings', async () => {
    const { run, log } = startRun();
    expect(await run.command(['sh', '-c', 'echo data; echo a warning >&2'])).toBe('data\n');
    await run.close();
    expect([log().includes('data\n'), log().includes('a warning\n')]).toEqual([true, true]);
  });

  it('keeps data out of the log, and shows the warnings', async () => {
    const { run, log } = startRun();
    expect(await run.command(['sh', '-c', 'printf "%s" da ta; echo a warning >&2'], { quiet: true })).toBe('data');
    await run.close();
    expect([log().includes('- data'), log().includes('a warning\n')]).toEqual([false, true]);
  });

  it.each([
    ['its last line', 'echo first; echo last; exit 3', 'sh ended with 3: last'],
    ['its last line, wherever it went', 'echo first; echo last >&2; exit 1', 'sh ended with 1: last'],
    ['nothing, where it printed nothing', 'exit 1', 'sh ended with 1: '],
    ['the signal', 'echo working; kill -TERM $$', 'sh was ended by SIGTERM: working'],
  ])('that fails says %s', async (_, script, message) => {
    const { run } = startRun();
    const error = await run.command(['/bin/sh', '-c', script], { quiet: true }).catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(StepFailed);
    expect((error as Error).message).toBe(message);
    await run.close();
  });

  it('is remembered while it runs', async () => {
    const { run, remembered } = startRun();
    await run.command(['sleep', '0.1']);
    await run.close();
    expect(remembered).toEqual([{ pid: expect.any(Number), started: expect.stringMatching(/^\d+$/) }, null]);
  });

  it('gets its folder and environment', async () => {
    const { run } = startRun();
    expect(await run.command(['sh', '-c', 'pwd; echo $ADDED'], { cwd: '/usr', env: { ADDED: 'x y' } })).toBe(
      '/usr\nx y\n',
    );
    await run.close();
  });
});
