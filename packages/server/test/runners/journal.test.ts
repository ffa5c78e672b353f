/** What is believed of a journal: a task can write to it, too. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { createIntake, journalReader, longestRecord } from '../../src/runners/journal.ts';
import { recordIn } from '../../src/runners/records.ts';
import { cleanUp, endRecord, newFolder } from './batch.ts';

afterAll(cleanUp);

const MOST = 1000;
const newIntake = (units = 3) => createIntake({ has: (number) => number < units, largestOutput: MOST });

const START = { start: 0, time: 1.5 };
const END = endRecord(0);
const WORKER = { worker: 77, started: '123', boot: 'b', time: 1, host: 'n1', scheduler_job_id: 5, array_job: 4 };

const bytesOf = (...records: (object | string)[]) =>
  Buffer.from(records.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join(''));

describe('a line is a record when a worker could have written it', () => {
  it.each([
    WORKER,
    { slots: 4 },
    { slots: 4, order: 7 },
    { running: 0, pid: 78, started: '124' },
    { stopping: true },
    START,
    END,
    { finished: true, stopped: false, out: '', err: 'x' },
  ])('%j', (record) => {
    expect(recordIn(JSON.stringify({ ...record, more: 1, __proto__: { polluted: true } }))).toEqual(record);
  });
});

describe('a line of a worker from before an update of the service is read with the names of now', () => {
  const { cpu_seconds: cpu, peak_memory_bytes: memory, num_warnings: warnings, ...rest } = END;
  it.each<[object, object]>([
    [{ places: 4 }, { slots: 4 }],
    [{ ...rest, cpu, memory, warnings }, END],
    [
      { ...rest, cpu, memory: null, warnings, memory_limit: 5 },
      { ...END, peak_memory_bytes: null, memory_limit_bytes: 5 },
    ],
  ])('%j', (line, record) => {
    expect(recordIn(JSON.stringify(line))).toEqual(record);
  });

  it('unless it has both, and is held to the same limits', () => {
    expect(recordIn(JSON.stringify({ ...END, cpu: 7, memory: -1 }))).toEqual(END);
    expect(recordIn(JSON.stringify({ ...rest, cpu, memory: -1, warnings }))).toBeUndefined();
  });
});

describe('a line is left out', () => {
  it.each<[string, string]>([
    ['no JSON', '{"start": 0'],
    ['a number', '7'],
    ['null', 'null'],
    ['a list', '[{"start": 0}]'],
    ['of no kind', '{"hello": true}'],
    ['with a kind from the prototype', '{"__proto__": {"start": 0, "time": 1}}'],
    ['for a unit with the name of a property', '{"start": "constructor", "time": 1}'],
    ['for a unit below zero', '{"start": -1, "time": 1}'],
    ['for half a unit', '{"start": 0.5, "time": 1}'],
    ['for a unit beyond all', '{"start": 1e300, "time": 1}'],
    ['without a time', '{"start": 0}'],
    ['with a time in words', '{"start": 0, "time": "now"}'],
    ['with a time below zero', '{"start": 0, "time": -5}'],
    ['with a time that no database takes', '{"start": 0, "time": 1e20}'],
    ['with what Python writes for no number', '{"start": 0, "time": NaN}'],
    ['with an exit code that is none', JSON.stringify({ ...END, exit_code: 2 ** 40 })],
    ['with memory below zero', JSON.stringify({ ...END, peak_memory_bytes: -1 })],
    ['with an output that is no text', JSON.stringify({ ...END, output: { image_list_updates: [] } })],
    ['with a log that is no base64', JSON.stringify({ ...END, log64: '<script>' })],
    ['with a problem without end', JSON.stringify({ ...END, problem: 'x'.repeat(20_000) })],
    ['with the id of a job in words', JSON.stringify({ ...WORKER, array_job: '1,2' })],
    ['with the id of a job below zero', JSON.stringify({ ...WORKER, array_job: -1 })],
    ['with the id of a job beyond all', JSON.stringify({ ...WORKER, scheduler_job_id: 2 ** 40 })],
    ['with a process that stands for all', JSON.stringify({ ...WORKER, worker: -1 })],
  ])('%s', (_, line) => {
    const intake = newIntake();
    expect(intake.take(bytesOf(line, START))).toEqual([START]);
    expect([intake.strange(), intake.problem()]).toEqual([1, undefined]);
  });

  it.each<[string, (object | string)[], object[]]>([
    ['for a unit of somebody else', [{ ...START, start: 3 }], []],
    ['for a unit that has started', [START, START], [START]],
    ['for a unit that has not started', [END], []],
    ['for a unit that has ended', [START, END, { ...END, exit_code: 1 }], [START, END]],
    ['with an output that is too large', [START, { ...END, output: 'x'.repeat(MOST + 1) }], [START]],
  ])('%s', (_, lines, expected) => {
    const intake = newIntake();
    expect(intake.take(bytesOf(...lines))).toEqual(expected);
    expect(intake.strange()).toBe(1);
  });
});

it('the name of a node is one, or unknown', () => {
  for (const host of ['a\0b', '../../x', 'n'.repeat(1000)]) {
    expect(recordIn(JSON.stringify({ ...WORKER, host }))).toEqual({ ...WORKER, host: 'unknown' });
  }
});

it('records come whole, wherever the bytes are cut', () => {
  const bytes = bytesOf(START, { ...END, tail: 'ä€😀' });
  for (let cut = 0; cut <= bytes.length; cut++) {
    const intake = newIntake();
    const records = [...intake.take(bytes.subarray(0, cut)), ...intake.take(bytes.subarray(cut))];
    expect(records).toEqual([START, { ...END, tail: 'ä€😀' }]);
    expect([intake.offset(), intake.position()]).toEqual([bytes.length, bytes.length]);
  }
});

it('a line without an end is given up, and what follows is not read', () => {
  const intake = newIntake();
  const piece = Buffer.alloc(2 ** 20, '{"start": 0 ');
  for (let size = 0; size <= longestRecord(MOST); size += piece.length) expect(intake.take(piece)).toEqual([]);
  expect(intake.problem()).toContain('something that is no line of the service');
  expect(intake.take(bytesOf('', START))).toEqual([]);
});

it('a thousand lines that do not fit are borne, and more are not', () => {
  const intake = newIntake();
  intake.take(bytesOf(...Array.from({ length: 1000 }, () => '{}')));
  expect(intake.take(bytesOf(START))).toEqual([START]);
  intake.take(bytesOf('{}'));
  expect(intake.problem()).toContain('more than 1000 lines that the service did not write');
});

describe('on this machine', () => {
  const open = () => {
    const path = join(newFolder(), 'journal.jsonl');
    const intake = newIntake();
    return { path, intake, reader: journalReader(path, intake) };
  };

  it('what is new is read, as it comes', async () => {
    const { path, reader } = open();
    writeFileSync(path, '');
    expect(await reader.read()).toEqual([]);
    writeFileSync(path, bytesOf(START).subarray(0, 10));
    expect(await reader.read()).toEqual([]);
    appendFileSync(path, bytesOf(START).subarray(10));
    appendFileSync(path, bytesOf(END));
    expect(await reader.read()).toEqual([START, END]);
    expect(await reader.read()).toEqual([]);
  });

  it('ten gigabytes of nothing are given up', async () => {
    const { path, intake, reader } = open();
    writeFileSync(path, bytesOf(START));
    truncateSync(path, 10 * 2 ** 30);
    expect(await reader.read()).toEqual([START]);
    expect(await reader.read()).toEqual([]);
    expect(intake.problem()).toContain('something that is no line of the service');
  });

  it.each<[string, (path: string) => void]>([
    ['a pipe', (path) => void execFileSync('mkfifo', [path])],
    ['a folder', (path) => void mkdirSync(path)],
    ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
    ['a link to another file', (path) => symlinkSync('/etc/passwd', path)],
  ])('%s in its place has no records, and nobody waits for it', async (_, make) => {
    // more than there are threads that read files
    for (let turn = 0; turn < 6; turn++) {
      const { path, intake, reader } = open();
      make(path);
      expect(await reader.read()).toEqual([]);
      expect(intake.problem()).toContain('is gone, or is no longer a file');
    }
  });
});
