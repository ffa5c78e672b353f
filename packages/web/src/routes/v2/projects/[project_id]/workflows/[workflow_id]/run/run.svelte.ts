/**
 * What the run dialog knows and decides: the workflow and dataset as they are now, what was chosen, what stands in the way,
 * what will happen, and the job that is started from it.
 *
 *     const run = createRun(() => ({ project, workflow, dataset, mode, … }));
 *     await run.load(); await run.check(); await run.start();
 */
import type { Dataset, Job, Project, WorkflowTask, WorkflowWithWarnings } from '@service/contract';

import { counted } from '#lib/ui/format.ts';
import { createWork } from '#lib/ui/work.svelte.ts';
import { invalidTasks } from '#lib/workflow/run/check.ts';
import { effectsOf } from '#lib/workflow/run/effects.ts';
import { initialTypes, jobTypes, lockedTypes } from '#lib/workflow/run/images.ts';
import { startRefusal } from '#lib/workflow/run/refusal.ts';
import { freeName, placeOf } from '#lib/workflow/run/reset.ts';
import { submission } from '#lib/workflow/run/submission.ts';
import { firstTask, isConverter, rerunStatuses, type RunMode, type Statuses } from '#lib/workflow/run/tasks.ts';
import { nameOf } from '#lib/workflow/words.ts';

import { createRunImages } from './images.svelte.ts';
import { checkImages, type Fresh, readFresh, resetJob, submitJob } from './requests.ts';
import { type Checks, newSettings, NOTHING_FOUND } from './settings.ts';

export interface Asked {
  project: Project;
  workflow: WorkflowWithWarnings;
  datasets: readonly Dataset[];
  dataset: Dataset;
  mode: RunMode;
  /** The task the reader looks at; the one to rerun. */
  task?: WorkflowTask | undefined;
  /** Of the newest job on the dataset. */
  statuses: Statuses;
  user: { is_guest: boolean; project_dirs: string[]; slurm_accounts: string[] };
}

const NAMES: Record<RunMode, string> = { run: 'Run', continue: 'Continue', reset: 'Reset', rerun: 'Rerun' };

/** Call it while a component is made. */
export function createRun(asked: () => Asked) {
  const { project, workflow, datasets, dataset, mode, task, statuses, user } = $derived(asked());
  let fresh = $state.raw<Fresh>();
  let settings = $state(newSettings());
  let findings = $state.raw<Checks>(NOTHING_FOUND);
  const images = createRunImages();
  const loading = createWork();
  const work = createWork();

  const tasks = $derived(fresh?.workflow.task_list ?? []);
  const first = $derived(settings.first);
  const end = $derived(settings.last ?? tasks.length - 1);
  const { step, flow } = $derived.by(() => {
    if (first === undefined) return {};
    return { step: tasks[first], flow: fresh?.flow[first] };
  });
  const locked = $derived.by(() => (step ? lockedTypes(step) : {}));
  const usesImages = $derived.by(
    () =>
      mode !== 'reset' && step !== undefined && !isConverter(step.task_type) && (fresh?.dataset.image_count ?? 0) > 0,
  );
  const place = $derived(placeOf(dataset.zarr_dir, user.project_dirs));
  const account = $derived.by(() =>
    user.slurm_accounts.length > 0 && settings.withAccount ? settings.account : undefined,
  );
  const madeName = $derived(settings.replace ? dataset.name : settings.newName);
  const isWarned = $derived(findings.mixed.length + findings.unprocessed.length > 0);

  /** Why nothing can be started; the button says it. */
  const refusal = $derived.by(() => {
    if (fresh === undefined) return loading.problem;
    return startRefusal({
      mode,
      project,
      user,
      info: fresh.info,
      tasks,
      first,
      last: end,
      dataset: fresh.dataset,
      place,
      newName: settings.replace ? undefined : settings.newName,
      chosen: images.list.busy ? undefined : images.chosen,
    });
  });
  const effects = $derived.by(() => {
    if (step === undefined) return [];
    const { query } = images.list;
    return effectsOf({
      mode,
      first: { name: nameOf(step), type: step.task_type },
      count: end - first! + 1,
      byStatus: usesImages ? images.counts?.byStatus : undefined,
      statuses: usesImages ? query.status : [],
      laterTasksGetAll: settings.laterTasksGetAll,
      hasAttributeFilters: usesImages && Object.keys(query.attributes).length > 0,
      hasTypeFilters: usesImages && Object.keys(jobTypes(query.types, locked, flow)).length > 0,
      keepsOld: !settings.replace,
    });
  });
  const title = $derived.by(() =>
    mode === 'rerun' && task ? `Rerun ${nameOf(task)}` : `${NAMES[mode]} ${workflow.name}`,
  );
  const action = $derived.by(() =>
    mode === 'rerun' && images.chosen !== undefined ? `Rerun ${counted(images.chosen, 'image')}` : NAMES[mode],
  );

  const forget = () => (findings = NOTHING_FOUND);

  /** The filters that the first task begins with. */
  function begin() {
    forget();
    settings.laterTasksGetAll = true;
    if (!usesImages || fresh === undefined || step === undefined) return;
    images.begin(
      {
        project_id: project.id,
        dataset_id: dataset.id,
        workflowtask_id: step.id,
        all: fresh.dataset.image_count,
      },
      {
        types: initialTypes(flow),
        status: mode === 'rerun' ? rerunStatuses(statuses[String(step.id)] ?? null) : [],
      },
    );
  }

  async function load() {
    await loading.run(async () => {
      fresh = await readFresh(project.id, workflow.id, dataset.id);
      settings.first = tasks.length === 0 ? undefined : firstTask(mode, tasks, statuses, task?.id);
      settings.newName = freeName(
        dataset.name,
        datasets.map(({ name }) => name),
      );
      settings.account = user.slurm_accounts[0] ?? '';
      begin();
    });
  }
  function choose(nextFirst: number | undefined, nextLast: number | undefined) {
    const other = nextFirst !== first;
    settings.first = nextFirst;
    settings.last = nextLast;
    if (other) begin();
    else forget();
  }

  /** Checks what is saved and what is chosen; true when nothing is in the way. */
  async function check(): Promise<boolean> {
    if (refusal !== undefined || step === undefined) return false;
    let isClear = false;
    await work.run(async () => {
      await images.list.settled();
      forget();
      findings = { ...findings, invalid: invalidTasks(tasks, first!, end) };
      if (findings.invalid.length > 0) return;
      if (usesImages) {
        const { list, urls } = images;
        const found = await checkImages({
          project_id: project.id,
          dataset_id: dataset.id,
          workflow_id: workflow.id,
          workflowtask_id: step.id,
          query: list.query,
          urls,
        });
        findings = { ...findings, ...found };
      }
      isClear = !isWarned && refusal === undefined;
    });
    return isClear;
  }

  /** The job, and what is left to say of a reset that did not go through to its end; undefined where it was refused. */
  async function start(): Promise<{ job: Job; leftover: string | undefined } | undefined> {
    const body = submission({
      first: first!,
      last: settings.last,
      workerInit: settings.workerInit,
      account,
      choice: usesImages ? images.list.query : undefined,
      jobTypes: jobTypes(usesImages ? images.list.query.types : {}, locked, flow),
      laterTasksGetAll: settings.laterTasksGetAll,
    });
    let started: { job: Job; leftover: string | undefined } | undefined;
    await work.run(async () => {
      if (mode !== 'reset') {
        started = { job: await submitJob(project.id, workflow.id, dataset.id, body), leftover: undefined };
        return;
      }
      const made = { name: madeName, place: place!, old: settings.replace ? dataset : undefined };
      started = await resetJob(project.id, workflow.id, made, body);
    });
    return started;
  }

  return {
    get fresh() {
      return fresh;
    },
    get findings() {
      return findings;
    },
    get tasks() {
      return tasks;
    },
    get first() {
      return first;
    },
    get end() {
      return end;
    },
    get step() {
      return step;
    },
    get locked() {
      return locked;
    },
    get usesImages() {
      return usesImages;
    },
    get account() {
      return account;
    },
    get madeName() {
      return madeName;
    },
    get isWarned() {
      return isWarned;
    },
    get refusal() {
      return refusal;
    },
    get effects() {
      return effects;
    },
    get title() {
      return title;
    },
    get action() {
      return action;
    },
    get settings() {
      return settings;
    },
    set settings(next) {
      settings = next;
    },
    images,
    loading,
    work,
    forget,
    begin,
    load,
    choose,
    check,
    start,
  };
}
