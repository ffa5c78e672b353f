import { expect, test } from 'vitest';

import { looksWell, person } from './site.ts';

test('a project made elsewhere is in the list', async () => {
  const anna = await person({ name: 'anna' });
  await anna.project('Screen 7');
  const page = await anna.open('/v2/projects');
  await expect.poll(() => page.getByRole('link', { name: 'Screen 7' }).count()).toBe(1);
  await looksWell(page, 'projects');
});
