import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { openLab } from '../support/lab.ts';
import { startService } from '../support/server.ts';
it('smoke', async () => {
  const service = await startService({ settings: { SERVICE_DATA_DIR: mkdtempSync(join(tmpdir(), 'service-data-')) } });
  const lab = await openLab(service);
  const flow = await lab.workflow([
    { type: 'parallel', plan: { '*': { print: 'hi', output: {} } } },
    {
      type: 'compound',
      plan: { '*': { raise: 'x' }, init: { output: { parallelization_list: [{ zarr_url: '/a' }] } } },
    },
  ]);
  const ds = await lab.dataset(['a', 'b']);
  let t = Date.now();
  const job = await lab.run(flow, ds);
  console.log(Date.now() - t, JSON.stringify(job, null, 1));
  console.log(JSON.stringify(await lab.units(ds, flow.steps[0]!), null, 1));
  console.log(JSON.stringify(await lab.units(ds, flow.steps[1]!), null, 1));
  console.log(
    'STAT',
    (await lab.owner.client.get(`${lab.base}/latest-job/`, { query: { workflow_id: flow.id, dataset_id: ds } })).text,
    service.log.filter((l) => l.error),
  );
  console.log(JSON.stringify(lab.starts(), null, 0));
  t = Date.now();
  await lab.run(flow, ds, { last_task_index: 0 });
  console.log(Date.now() - t);
});
