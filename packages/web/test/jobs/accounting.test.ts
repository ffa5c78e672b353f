import { describe, expect, it } from 'vitest';

import {
  accountingCsv,
  accountingFilters,
  peopleUse,
  periodsOf,
  roundTop,
  startOf,
  suitableLength,
} from '../../src/lib/jobs/accounting.ts';
import { adminFilters, jobsCsv } from '../../src/lib/jobs/admin.ts';
import { momentOf, partsOf } from '../../src/lib/ui/asked.ts';

const record = (id: number, user_id: number, day: Date, num_tasks = 1, num_new_images = 0) => ({
  id,
  user_id,
  timestamp: day.toISOString(),
  num_tasks,
  num_new_images,
});
const november = (day: number, hour = 12) => new Date(2026, 10, day, hour);

describe('use over time', () => {
  it('counts days, also those in which nothing ran', () => {
    const periods = periodsOf(
      [record(1, 1, november(9), 2, 10), record(2, 2, november(9, 23), 3), record(3, 1, november(11), 1)],
      'day',
    );
    expect(periods.map(({ start, num_tasks, num_new_images }) => [start.getDate(), num_tasks, num_new_images])).toEqual(
      [
        [9, 5, 10],
        [10, 0, 0],
        [11, 1, 0],
      ],
    );
    expect(periodsOf([], 'day')).toEqual([]);
  });

  it('counts weeks from Monday to Sunday', () => {
    // 9 November 2026 is a Monday
    expect(startOf(november(15), 'week').getDate()).toBe(9);
    expect(startOf(november(9), 'week').getDate()).toBe(9);
    const periods = periodsOf([record(1, 1, november(15)), record(2, 1, november(16))], 'week');
    expect(periods.map(({ start }) => start.getDate())).toEqual([9, 16]);
  });

  it('goes on over the change to summer time', () => {
    const days = periodsOf([record(1, 1, new Date(2026, 2, 28, 12)), record(2, 1, new Date(2026, 2, 31, 12))], 'day');
    expect(days.map(({ start, num_tasks }) => [start.getDate(), num_tasks])).toEqual([
      [28, 1],
      [29, 0],
      [30, 0],
      [31, 1],
    ]);
  });

  it('is shown in weeks when it is long', () => {
    expect(suitableLength([record(1, 1, november(1)), record(2, 1, november(29))])).toBe('day');
    expect(suitableLength([record(1, 1, new Date(2026, 0, 1)), record(2, 1, november(29))])).toBe('week');
    expect(suitableLength([])).toBe('day');
  });

  it('is counted by person, most first', () => {
    const use = peopleUse([
      record(1, 7, november(1), 1, 4),
      record(2, 8, november(1), 5),
      record(3, 7, november(2), 2),
    ]);
    expect(use).toEqual([
      { user_id: 8, num_tasks: 5, num_new_images: 0, records: 1 },
      { user_id: 7, num_tasks: 3, num_new_images: 4, records: 2 },
    ]);
  });

  it.each([
    [0, 1],
    [3, 3],
    [7, 10],
    [12, 20],
    [21, 25],
    [480, 500],
    [1000, 1000],
  ])('%i is drawn under %i', (value, top) => expect(roundTop(value)).toBe(top));
});

describe('filters of administrators', () => {
  const search = new URLSearchParams(
    'status=failed&id=3&project_owner_id=4&job_user_email=a@b.c&project_id=5&workflow_id=x&start_timestamp_min=2026-11-09T00:00:00.000Z&end_timestamp_max=never',
  );
  it('are read from the address, and only where they mean something', () => {
    expect(adminFilters(search)).toEqual({
      status: 'failed',
      id: 3,
      project_owner_id: 4,
      job_user_email: 'a@b.c',
      project_id: 5,
      workflow_id: undefined,
      dataset_id: undefined,
      resource_id: undefined,
      start_timestamp_min: '2026-11-09T00:00:00.000Z',
      start_timestamp_max: undefined,
      end_timestamp_min: undefined,
      end_timestamp_max: undefined,
    });
    expect(accountingFilters(new URLSearchParams('user_id=3&timestamp_min=x'))).toEqual({
      user_id: 3,
      timestamp_min: undefined,
      timestamp_max: undefined,
    });
  });
});

describe('a day with an optional time', () => {
  it('is sent in UTC and read back in the zone of the reader', () => {
    const moment = momentOf('2026-11-09', '08:30')!;
    expect(moment).toBe(new Date(2026, 10, 9, 8, 30).toISOString());
    expect(partsOf(moment)).toEqual({ day: '2026-11-09', time: '08:30' });
  });

  it('begins at midnight without a time, and is nothing without a day', () => {
    expect(momentOf('2026-11-09', '')).toBe(new Date(2026, 10, 9).toISOString());
    expect(partsOf(momentOf('2026-11-09', ''))).toEqual({ day: '2026-11-09', time: '' });
    expect(momentOf('', '08:30')).toBeUndefined();
    expect(momentOf('soon', '')).toBeUndefined();
    expect(partsOf('never')).toEqual({ day: '', time: '' });
    expect(partsOf(undefined)).toEqual({ day: '', time: '' });
  });
});

describe('files for spreadsheets', () => {
  it('run no formula', () => {
    expect(accountingCsv([record(1, 7, november(1))], () => '=1+1')).toContain(",'=1+1,");
  });

  it('have a line for each record', () => {
    expect(accountingCsv([record(1, 7, november(1))], () => 'a@b.c').split('\r\n')).toHaveLength(3);
  });

  it('have a line for each job', () => {
    const job = {
      id: 7,
      status: 'done',
      project_dump: { name: 'P' },
      workflow_dump: { name: 'W' },
      dataset_dump: { name: 'D, 2' },
      failure: null,
    };
    expect(jobsCsv([job, job] as never).split('\r\n')).toHaveLength(4);
    expect(jobsCsv([job] as never)).toContain('"D, 2"');
  });
});
