/** A small OME-Zarr plate of cells, drawn by the demo tasks: three planes, two channels, the nuclei in the first. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DEMO_TASKS = join(import.meta.dirname, '../../packages/demo-tasks');

interface Item {
  zarr_url: string;
  init_args: object;
}

function runDemoTask(script: string, args: object): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'service-demo-task-'));
  const [given, output] = [join(folder, 'args.json'), join(folder, 'out.json')];
  try {
    writeFileSync(given, JSON.stringify(args));
    const program = join(DEMO_TASKS, 'demo_tasks/tasks', script);
    const env = { ...process.env, PYTHONPATH: DEMO_TASKS, PYTHONDONTWRITEBYTECODE: '1' };
    execFileSync('python3', [program, '--args-json', given, '--out-json', output], { env });
    return JSON.parse(readFileSync(output, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Draws one row of wells into `<folder>/demo.zarr`; gives the addresses of their images. */
export function drawPlate(folder: string, { wells, size }: { wells: number; size: number }): string[] {
  const { parallelization_list: items } = runDemoTask('make_demo_plate_init.py', {
    zarr_dir: folder,
    layout: { rows: 1, columns: wells },
  }) as { parallelization_list: Item[] };
  for (const item of items) runDemoTask('make_demo_plate_compute.py', { ...item, image: { size } });
  return items.map(({ zarr_url }) => zarr_url);
}
