/**
 * What the run dialog knows and decides: the workflow and dataset as they are now, what was chosen, what is missing, what
 * will happen, and the job that is started from it.
 *
 *     const run = createRun(() => ({ project, workflow, dataset, mode, … }));
 *     await run.load(); await run.start();
 */
import type { Dataset, Job, Project, WorkflowTask, WorkflowWithWarnings } from '@service/contract';

import { nameOf } from '#lib/format.ts';
import { createAction } from '#lib/ui/action.svelte.ts';
import { effectsOf } from '#lib/workflow/run/effects.ts';
import { initialTypes, jobTypes, lockedTypes } from '#lib/workflow/run/images.ts';
import { actionWords, fromTheStart, isConverter, nextRun, runFrom, type RunMode } from '#lib/workflow/run/next.ts';
import { obstacles, startRefusal } from '#lib/workflow/run/refusal.ts';
import { freeName, zarrFolderOf } from '#lib/workflow/run/reset.ts';
import { shellLines } from '#lib/workflow/run/shell.ts';
import { submission } from '#lib/workflow/run/submission.ts';

import { createImageChecks } from './checks.svelte.ts';
import { createRunImages } from './images.svelte.ts';
import { type Fresh, readFresh, resetJob, submitJob } from './requests.ts';
import { newSettings } from './settings.ts';

export interface Asked {
  project: Project;
  workflow: WorkflowWithWarnings;
  datasets: readonly Dataset[];
  /** The one that the page shows. */
  dataset: Dataset;
  mode: RunMode;
  /** Where to begin, when that was asked for. */
  task?: WorkflowTask | undefined;
  user: { email: string; is_guest: boolean; project_dirs: string[]; slurm_accounts: string[] };
}

/** The job, and what is left to say of a reset that did not go through to its end. */
interface Started {
  job: Job;
  leftover: string | undefined;
}

/** Call it while a component is made. */
export function createRun(asked: () => Asked) {
  const { project, workflow, datasets, mode, task, user } = $derived(asked());
  let fresh = $state.raw<Fresh>();
  const settings = $state(newSettings());
  const images = createRunImages();
  const loading = createAction();
  const work = createAction();

  const dataset = $derived.by(() =>
    mode === 'other' ? datasets.find(({ id }) => id === settings.dataset) : asked().dataset,
  );
  const tasks = $derived(fresh?.workflow.task_list ?? []);
  const statuses = $derived(fresh?.job?.task_statuses ?? {});
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
  const zarrFolder = $derived.by(() => dataset && zarrFolderOf(dataset.zarr_dir, user.project_dirs));
  const account = $derived.by(() =>
    user.slurm_accounts.length > 0 && settings.withAccount ? settings.account : undefined,
  );
  const chosenStatuses = $derived.by(() => (usesImages ? images.list.query.status : []));

  const missing = $derived.by(() => {
    if (fresh === undefined) return [];
    return obstacles({ project, user, info: fresh.info, job: fresh.job, tasks, first: first ?? 0, last: end });
  });
  /** What has to be chosen otherwise; the button says it. */
  const refusal = $derived.by(() => {
    if (fresh === undefined) return loading.problem;
    return startRefusal({
      mode,
      project,
      tasks,
      first,
      dataset: fresh.dataset,
      zarrFolder,
      newName: settings.replace ? undefined : settings.newName,
      chosen: !usesImages || images.list.busy ? undefined : images.chosen,
    });
  });
  const effects = $derived.by(() => {
    if (step === undefined || fresh === undefined) return [];
    const { query } = images.list;
    return effectsOf({
      isReset: mode === 'reset',
      dataset: mode === 'reset' && !settings.replace ? settings.newName : fresh.dataset.name,
      first: { name: nameOf(step), type: step.task_type },
      from: first!,
      to: end,
      of: tasks.length,
      byStatus: usesImages ? images.counts?.byStatus : undefined,
      statuses: chosenStatuses,
      laterTasksGetAll: settings.laterTasksGetAll,
      hasAttributeFilters: usesImages && Object.keys(query.attributes).length > 0,
      hasTypeFilters: usesImages && Object.keys(jobTypes(query.types, locked, flow)).length > 0,
      keepsOld: !settings.replace,
    });
  });
  const title = $derived.by(() => {
    if (mode === 'reset') return `Reset ${asked().dataset.name}`;
    return mode === 'other' ? `Run ${workflow.name} on another dataset` : `Run ${workflow.name}`;
  });
  const action = $derived.by(() =>
    actionWords({
      mode,
      kind: mode === 'again' ? 'again' : nextRun(tasks, statuses).kind,
      statuses: chosenStatuses,
      images: images.chosen,
      goesOn: first !== undefined && end > first,
    }),
  );

  const checks = createImageChecks(() => {
    if (!usesImages || step === undefined || dataset === undefined || images.list.busy) return undefined;
    const { query } = images.list;
    return {
      project_id: project.id,
      dataset_id: dataset.id,
      workflow_id: workflow.id,
      workflowtask_id: step.id,
      query,
      urls: images.urls,
    };
  });

  /** The filters that the first task begins with. */
  function begin() {
    if (fresh === undefined || first === undefined || step === undefined) return;
    const isWhole = mode === 'again' || mode === 'reset';
    const plan = isWhole ? fromTheStart() : runFrom(first, tasks, statuses);
    settings.laterTasksGetAll = plan.laterTasksGetAll;
    if (!usesImages) return;
    images.begin(
      {
        project_id: project.id,
        dataset_id: fresh.dataset.id,
        workflowtask_id: step.id,
        all: fresh.dataset.image_count,
      },
      { types: initialTypes(flow), status: plan.statuses },
    );
  }

  function firstOf(): number | undefined {
    if (tasks.length === 0) return undefined;
    if (mode === 'task')
      return Math.max(
        0,
        tasks.findIndex(({ id }) => id === task?.id),
      );
    return mode === 'next' || mode === 'other' ? nextRun(tasks, statuses).first : 0;
  }

  async function load() {
    await loading.run(async () => {
      // another one may be chosen while this one is looked at
      while (dataset !== undefined && fresh?.dataset.id !== dataset.id) {
        const answer = await readFresh(project.id, workflow.id, dataset.id);
        if (answer.dataset.id === dataset.id) fresh = answer;
      }
      settings.first = firstOf();
      settings.last = undefined;
      settings.newName = freeName(
        dataset?.name ?? '',
        datasets.map(({ name }) => name),
      );
      settings.account ||= user.slurm_accounts[0] ?? '';
      begin();
    });
  }

  function chooseDataset(id: number) {
    settings.dataset = id;
    fresh = undefined;
    void load();
  }

  function choose(nextFirst: number | undefined, nextLast: number | undefined) {
    const other = nextFirst !== first;
    settings.first = nextFirst;
    settings.last = nextLast;
    if (other) begin();
  }

  const body = () =>
    submission({
      first: first!,
      last: settings.last,
      workerInit: settings.workerInit,
      account,
      choice: usesImages ? images.list.query : undefined,
      jobTypes: jobTypes(usesImages ? images.list.query.types : {}, locked, flow),
      laterTasksGetAll: settings.laterTasksGetAll,
    });

  function submit(): Promise<Started> {
    const { id, name } = dataset!;
    if (mode !== 'reset')
      return submitJob(project.id, workflow.id, id, body()).then((job) => ({ job, leftover: undefined }));
    const made = settings.replace
      ? { name, zarrFolder: zarrFolder!, old: dataset }
      : { name: settings.newName, zarrFolder: zarrFolder!, old: undefined };
    return resetJob(project.id, workflow.id, made, body());
  }

  /**
   * Undefined where no job was started: it was refused, or a check of the images that was still under way found something,
   * which is shown now.
   */
  async function start(): Promise<Started | undefined> {
    let started: Started | undefined;
    await work.run(async () => {
      await images.list.settled();
      if (fresh === undefined || refusal !== undefined || missing.length > 0) return;
      if (usesImages && !(await checks.areShown())) return;
      started = await submit();
    });
    return started;
  }

  return {
    get dataset() {
      return dataset;
    },
    get fresh() {
      return fresh;
    },
    get missing() {
      return missing;
    },
    get found() {
      return checks.found;
    },
    get shell() {
      if (fresh === undefined) return [];
      const onCluster = fresh.info.resource_type?.startsWith('slurm') ?? false;
      const changes = fresh.preCheck.shell_changes;
      return shellLines({ tasks, first: first ?? 0, last: end, changes, onCluster, email: user.email });
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
    images,
    loading,
    work,
    load,
    choose,
    chooseDataset,
    start,
  };
}

export type Run = ReturnType<typeof createRun>;
