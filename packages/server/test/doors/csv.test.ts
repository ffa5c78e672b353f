/** Files for spreadsheets hold what people wrote, and a spreadsheet must not run it. */
import { beforeAll, describe, expect, it } from 'vitest';

import { addPerson, addProfile, addProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

const FORMULAS = ['=1+1', '+cmd|x', '-1+cmd', '@SUM(A1)', '\t=1', '=HYPERLINK("http://x","y")'];
const RUNS = /(^|,)"?([=+\-@\t]|\r(?!\n))/m;

let service: TestService;
let profile: number;

beforeAll(async () => {
  service = await startService();
  profile = await addProfile(service);
});

describe('the list of accounts', () => {
  it('runs nothing that an address, a folder or a group is called', async () => {
    const groups: number[] = [];
    for (const name of FORMULAS) {
      const { body } = await service.admin.post('/auth/group/', { name: `${name} ` });
      groups.push(body.id);
    }
    for (const [index, group] of groups.entries()) {
      const email = `${'=+-@'[index % 3]}formula${index}@example.org`;
      const { id } = await addPerson(service, profile, { email, project_dirs: [`/data/${index}`] });
      const answer = await service.admin.post(`/auth/group/${group}/add-user/${id}/`);
      expect(answer.status).toBe(200);
    }
    await service.database.db
      .updateTable('users')
      .set({ slurm_accounts: ['=2+3'] })
      .where('email', 'like', '=%')
      .execute();
    const { text } = await service.admin.get('/admin/v2/users-csv/');
    expect(text).toContain('formula0@example.org');
    expect(text).toContain("'=2+3");
    expect(text).not.toMatch(RUNS);
  });
});

describe('the images of a dataset', () => {
  it('run nothing that an attribute, a value or a type is called, and numbers stay numbers', async () => {
    const owner = await addPerson(service, profile, { project_dirs: ['/data'] });
    const project = await addProject(service, owner, 'Plates');
    const images = FORMULAS.map((text, index) => ({
      zarr_url: `/data/d/${index}`,
      attributes: { [text.trim()]: text, number: -1.5 - index },
      types: { [text.trim()]: true },
    }));
    const made = await owner.client.post(`/api/v2/project/${project}/dataset/import/`, {
      name: 'd',
      zarr_dir: '/data/d',
      images,
    });
    expect(made.status).toBe(201);
    const path = `/api/v2/project/${project}/dataset/${made.body.id}/images/export/?format=csv`;
    const { text } = await owner.client.post(path, {});
    for (const one of [`'=1+1`, `'@SUM(A1)`, ',-1.5,', ',-6.5,']) expect(text).toContain(one);
    expect(text.replaceAll(/,-\d+\.5(?=,)/g, ',')).not.toMatch(RUNS);
  });
});
