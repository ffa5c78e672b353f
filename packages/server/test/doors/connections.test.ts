/** One person whose requests all wait in the database keeps nobody else from it. */
import { expect, it } from 'vitest';

import { untilWaiting } from '../support/locks.ts';
import { addDataset } from '../support/people.ts';
import { addPerson, addProfile, addProject } from '../support/plates.ts';
import { startService } from '../support/server.ts';

/** Of ten connections. */
const MOST_OF_ONE = 6;

it('changes of one person that wait for each other leave connections for others, and for signing in', async () => {
  const service = await startService();
  const profile = await addProfile(service);
  const [anna, ben] = [await addPerson(service, profile), await addPerson(service, profile)];
  const project = await addProject(service, anna, 'Screen');
  const dataset = await addDataset(service, project);
  const holder = await service.database.pool.connect();
  await holder.query('begin');
  await holder.query('select from datasets where id = $1 for update', [dataset]);
  const path = `/api/v2/project/${project}/dataset/${dataset}/`;
  const changes = Array.from({ length: 30 }, (_, n) => anna.client.patch(path, { name: `data ${n}` }));
  try {
    await untilWaiting(service.database, MOST_OF_ONE);
    const token = await service.login(ben.email, ben.password);
    for (let round = 0; round < 10; round++) {
      expect((await service.withToken(token).get('/auth/current-user/')).status).toBe(200);
      expect((await ben.client.get('/api/v2/project/')).status).toBe(200);
    }
    await untilWaiting(service.database, MOST_OF_ONE);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  expect(new Set((await Promise.all(changes)).map(({ status }) => status))).toEqual(new Set([200]));
});
