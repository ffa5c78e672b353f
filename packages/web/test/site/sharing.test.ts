import { expect, test } from 'vitest';

import type { Project } from '@service/contract';

import { goTo, good, looksWell, person } from './site.ts';

test('sharing: unknown e-mail, invite, edit permission, three invitations accepted/declined/left, revoke', async () => {
  const anna = await person({ name: 'anna' });
  const [tom, mia, lea] = [await person({ name: 'tom' }), await person({ name: 'mia' }), await person({ name: 'lea' })];
  const project = await anna.project('Mitosis atlas');
  const page = await anna.open(`/v2/projects/${project.id}`);
  await page.getByRole('link', { name: 'Sharing' }).click();
  await page.getByRole('heading', { name: 'Not shared yet' }).waitFor();
  const rows = async () => {
    const cells = await page.getByRole('row').filter({ hasText: '@' }).all();
    return Promise.all(
      cells.map(async (row) => {
        const [email, state] = await row.getByRole('cell').allInnerTexts();
        return [email, state, await row.getByRole('img', { name: 'Yes' }).count()];
      }),
    );
  };
  const address = page.getByRole('textbox', { name: 'E-mail address' });

  await page.getByRole('button', { name: 'Invite' }).click();
  await address.fill('nobody@example.org');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  await page.getByText('There is no user with this e-mail address').waitFor();
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await looksWell(page, 'sharing-invite');
  await address.fill(tom.email);
  await page.getByRole('radio', { name: /^Read and edit/ }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  await expect.poll(rows).toEqual([[tom.email, 'Invited', 2]]);
  for (const guest of [mia, lea])
    await good(
      anna.client.post(`/api/v2/project/${project.id}/guest/?email=${encodeURIComponent(guest.email)}`, {
        permissions: 'r',
      }),
    );

  const toms = await tom.open('/v2/projects');
  await toms.getByRole('group', { name: 'Invitation to Mitosis atlas' }).getByText('(read, edit)').waitFor();
  await toms.getByRole('button', { name: 'Accept' }).click();
  await toms.getByRole('link', { name: 'Mitosis atlas' }).waitFor();
  expect(await toms.getByRole('button', { name: 'Accept' }).count()).toBe(0);
  const mias = await mia.open('/v2/projects');
  await mias.getByRole('button', { name: 'Decline' }).click();
  await expect.poll(() => mias.getByRole('button', { name: 'Decline' }).count()).toBe(0);
  const leas = await lea.open('/v2/projects');
  await leas.getByRole('button', { name: 'Accept' }).click();
  await leas.getByRole('button', { name: 'More about Mitosis atlas' }).click();
  await leas.getByRole('menuitem', { name: 'Leave' }).click();
  await leas.getByRole('button', { name: 'Leave project' }).click();
  await leas.getByRole('heading', { name: 'You have no projects yet' }).waitFor();

  await goTo(page, `/v2/projects/${project.id}/sharing`);
  await expect.poll(rows).toEqual([[tom.email, 'Member', 2]]);
  await looksWell(page, 'sharing');
  await page.getByRole('button', { name: `Change permission of ${tom.email}` }).click();
  await page.getByRole('radio', { name: /^Read, edit and run/ }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(rows).toEqual([[tom.email, 'Member', 3]]);
  const [seen] = await good<Project[]>(tom.client.get('/api/v2/project/?is_owner=false'));
  expect(seen!.permissions).toBe('rwx');

  await page.getByRole('button', { name: `Revoke access of ${tom.email}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke access' }).click();
  await page.getByRole('heading', { name: 'Not shared yet' }).waitFor();
  expect(await good(tom.client.get('/api/v2/project/?is_owner=false'))).toEqual([]);
});
