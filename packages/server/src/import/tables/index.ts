/** All tables, parents first. */
import type { Mapping, Plan } from '../mapping.ts';
import { strangeTimes } from '../times.ts';
import { accountingRecords, accountingRecordsSlurm } from './accounting.ts';
import { groupMembers, oauthAccounts, profiles, resources, userGroups, users } from './accounts.ts';
import { historyImageCache, historyRuns, historyUnits, jobs } from './history.ts';
import { images } from './images.ts';
import { activities, taskGroups, tasks } from './packages.ts';
import { datasets, projectGuests, projects, workflows, workflowTasks, workflowTemplates } from './projects.ts';

const TABLES: ((plan: Plan) => Mapping)[] = [
  resources,
  profiles,
  users,
  oauthAccounts,
  userGroups,
  groupMembers,
  taskGroups,
  tasks,
  projects,
  projectGuests,
  datasets,
  images,
  workflowTemplates,
  workflows,
  workflowTasks,
  jobs,
  historyRuns,
  historyUnits,
  historyImageCache,
  activities,
  accountingRecords,
  accountingRecordsSlurm,
];

/** References that lead nowhere, and strange times, are found once for a table of the source, though two of ours may be made of it. */
export function mappings(plan: Plan): Mapping[] {
  const seen = new Set<string>();
  return TABLES.map((table) => {
    const mapping = table(plan);
    if (seen.has(mapping.source)) return mapping;
    seen.add(mapping.source);
    return {
      ...mapping,
      findings: [...plan.missing(mapping.source), ...strangeTimes(plan, mapping.source), ...mapping.findings],
    };
  });
}
