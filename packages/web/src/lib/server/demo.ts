/** The demo that the web server ships, for those who may make it. */
import demo from 'virtual:demo';
import { error } from '@sveltejs/kit';

import type { DemoOffer, DemoWorkflow } from '../projects/demo.ts';
import { guestRefusal } from '../rights.ts';

const LEFT_OUT = 'The demo is not part of this web server. It was built on a machine without Python.';

/** A guest account could do nothing with it. Who is signed in is checked by the page guard. */
export function requireDemo(user: App.Locals['user']): { name: string; base64: string } {
  if (user?.is_guest !== false) error(403, guestRefusal('make the demo'));
  return demo.wheel ?? error(404, LEFT_OUT);
}

/** The name of a wheel tells name and version: `demo_tasks-0.1.0-py3-none-any.whl`. */
function packageOf(fileName: string): DemoOffer['package'] {
  const [name, version] = fileName.split('-');
  return { pkg_name: name!.replaceAll('_', '-'), version: version!, file_name: fileName };
}

export function demoOffer(fileName: string): DemoOffer {
  const shipped = packageOf(fileName);
  const { pkg_name, version } = shipped;
  const workflows = demo.workflows.map(({ name, description, tasks, dataset, ends }): DemoWorkflow => ({
    dataset,
    ends,
    workflow: {
      name,
      description,
      task_list: tasks.map(({ name: task, ...args }) => ({ task: { pkg_name, version, name: task }, ...args })),
    },
    plate: tasks[0]!.args_non_parallel as unknown as DemoWorkflow['plate'],
  }));
  return { project: demo.project, package: shipped, workflows };
}
