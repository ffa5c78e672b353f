/** The manual: the texts of docs/ as a site, which the service serves at /manual/. `npm run build:manual` builds it. */
import { defineConfig } from 'vitepress';
import { join } from 'node:path';

import { CONTENTS } from './contents.ts';
import { textOfPage } from './texts.ts';

const CACHE = join(import.meta.dirname, 'cache');

export default defineConfig({
  base: '/manual/',
  lang: 'en',
  title: 'Manual',
  description: 'Runs image-analysis workflows over OME-Zarr datasets, on one machine or on a Slurm cluster.',
  cacheDir: CACHE,
  // leads readers of the repository to the pages that the contents list
  srcExclude: ['operation.md'],
  cleanUrls: true,
  markdown: {
    config(md) {
      const render = md.render.bind(md);
      md.render = (text, env) => render(textOfPage(text), env);
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: { provider: 'local' },
    sidebar: CONTENTS,
    nav: [
      { text: 'Users', link: '/guide/', activeMatch: '^/(guide|quick-start|concepts|python)' },
      { text: 'Task authors', link: '/authors/', activeMatch: '^/authors' },
      { text: 'Operators', link: '/operate/', activeMatch: '^/(operate|settings|logging)' },
      { text: 'Developers', link: '/architecture', activeMatch: '^/(architecture|api|operations|web|contributing)' },
    ],
    docFooter: { prev: 'Previous', next: 'Next' },
    notFound: { quote: 'The manual has no such page. Search for it, or begin at the front.' },
  },
});
