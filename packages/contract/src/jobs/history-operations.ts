/** The operations on history: runs, units, images with their status, logs. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageQuery } from '../pagination.ts';
import { answer, boolean, choice, id, text } from '../wire/scalars.ts';
import {
  HistoryRun,
  HistoryUnitPage,
  ImageGroups,
  ImageGroupsQuery,
  ImageHistory,
  ImageLogRequest,
  ImageStatusPage,
  ImageStatusQuery,
} from './history.ts';
import { HISTORY_STATUSES } from './task-status.ts';

const inProject = z.object({ project_id: id() });
const ofTask = { dataset_id: id(), workflowtask_id: id() };
const UNKNOWN = { 404: 'There is no such object.' };
const path = '/api/v2/project/{project_id}/status/';
const common = { access: 'reader', tag: 'history', refusals: UNKNOWN } as const;

export const listRuns = operation({
  ...common,
  id: 'list_history_runs',
  method: 'GET',
  path: `${path}run/`,
  summary: 'The runs of a task on a dataset, oldest first',
  params: inProject,
  query: z.object(ofTask),
  answer: [200, z.array(HistoryRun)],
});

export const listUnits = operation({
  ...common,
  id: 'list_history_units',
  method: 'GET',
  path: `${path}run/{history_run_id}/units/`,
  summary: 'The units of a run',
  params: z.object({ project_id: id(), history_run_id: id() }),
  query: z.object({
    ...ofTask,
    unit_status: choice(HISTORY_STATUSES).optional(),
    ended: boolean().default(false).meta({ description: 'Only units that have ended, the last one first.' }),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, HistoryUnitPage],
});

export const queryImageStatus = operation({
  ...common,
  id: 'query_image_status',
  scope: 'read',
  method: 'POST',
  path: `${path}images/`,
  summary: 'Images of a dataset with what a task did with them',
  params: inProject,
  query: z.object({
    ...ofTask,
    include_warnings: boolean().default(false),
    include_units: boolean().default(false),
    sort: text().optional().meta({
      description:
        'zarr_url, status (failed, submitted, unset, done) or attribute:<key>, with - in front for descending.',
    }),
    ...pageQuery,
  }),
  body: ImageStatusQuery,
  paginated: true,
  answer: [200, ImageStatusPage],
});

export const countImageGroups = operation({
  ...common,
  id: 'count_image_groups',
  scope: 'read',
  method: 'POST',
  path: `${path}images/groups/`,
  summary: 'How many images have which values, and what a task did with them',
  description: 'For maps of plates: one answer, however many images there are. At most 20 000 groups are given.',
  params: inProject,
  query: z.object({ dataset_id: id(), workflowtask_id: id().optional() }),
  body: ImageGroupsQuery,
  answer: [200, ImageGroups],
});

export const imageHistory = operation({
  ...common,
  id: 'image_history',
  method: 'GET',
  path: `${path}image-history/`,
  summary: 'Which task of which job made an image, which worked on it, and with which arguments',
  params: inProject,
  query: z.object({ dataset_id: id(), zarr_url: text() }),
  answer: [200, ImageHistory],
});

export const imageLog = operation({
  ...common,
  id: 'image_log',
  scope: 'read',
  method: 'POST',
  path: `${path}image-log/`,
  summary: 'The log of the unit that looked at an image last',
  params: inProject,
  body: ImageLogRequest,
  answer: [200, answer.text()],
});

export const unitLog = operation({
  ...common,
  id: 'unit_log',
  method: 'GET',
  path: `${path}unit-log/`,
  summary: 'The log of a unit',
  params: inProject,
  query: z.object({ history_run_id: id(), history_unit_id: id(), ...ofTask }),
  answer: [200, answer.text()],
});
