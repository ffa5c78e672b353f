/** The reader's own running jobs: which are followed, and what is said when one ends. */
import { describe, expect, it } from 'vitest';

import { gone, isShown, noticeOf, runningOf } from '../../src/lib/jobs/own-jobs.ts';

describe('own jobs', () => {
  const job = {
    id: 12,
    project_id: 7,
    workflow_id: 3,
    status: 'done',
    failure: null,
    stop_requested_at: null,
    stop_requested_by: null,
    timestamp_first_unit: null,
    workflow_dump: { name: 'Nuclei' },
    dataset_dump: { name: 'Plate 1' },
  } as unknown as Parameters<typeof noticeOf>[0];

  it('of a deleted project are not followed', () =>
    expect(runningOf([job, { id: 13, project_id: null }])).toEqual([{ id: 12, project_id: 7 }]));

  it('have ended when they are not among the running ones any more', () =>
    expect(
      gone(
        [
          { id: 1, project_id: 7 },
          { id: 2, project_id: 7 },
        ],
        [{ id: 2, project_id: 7 }],
      ),
    ).toEqual([{ id: 1, project_id: 7 }]));

  it.each([
    ['/v2/projects/7/jobs/12', true],
    ['/v2/projects/7/workflows/3', true],
    ['/v2/projects/7/workflows/4', false],
    ['/v2/jobs', false],
  ])('need no notice on %s: %s', (pathname, shown) => expect(isShown(pathname, job)).toBe(shown));

  it.each([
    [{ status: 'done' }, 'Job 12 is done'],
    [{ status: 'failed' }, 'Job 12 failed'],
    [{ status: 'failed', failure: { kind: 'stopped' } }, 'Job 12 was stopped'],
  ])('%j: %s', (fields, words) =>
    expect(noticeOf({ ...job, ...fields } as typeof job)).toMatchObject({
      words,
      note: 'Nuclei on Plate 1',
      href: '/v2/projects/7/jobs/12',
    }),
  );
});
