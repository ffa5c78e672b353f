import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

import { chunks } from './chunks-plugin.ts';
import { demo } from './demo-plugin.ts';
import { operations } from './operations-plugin.ts';

/** The one style attribute that is let through: Kit hides its own #svelte-announcer with it (sveltejs/kit#14247). */
const ANNOUNCER_STYLE = 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo=';

const files = chunks();

export default defineConfig({
  // pictures of images are read by a worker, which loads a codec when an image needs it
  worker: { format: 'es' },
  // nobody reads the sizes of a build, and they take a tenth of its time
  build: { reportCompressedSize: false },
  environments: { client: { build: { rolldownOptions: { output: { codeSplitting: { groups: files.groups } } } } } },
  plugins: [
    operations(),
    demo(),
    files.plugin,
    sveltekit({
      // whoever builds names a folder of its own, so that what runs stays as it is (packages/server/src/web/builds.ts)
      adapter: adapter({ out: process.env['WEB_BUILD_FOLDER'] ?? '.svelte-kit/build' }),
      csp: {
        mode: 'auto',
        // No 'unsafe-inline': a style attribute in delivered HTML is ignored, so give classes or SVG attributes.
        directives: {
          'default-src': ['none'],
          'script-src': ['self'],
          'style-src': ['self'],
          'style-src-attr': ['unsafe-hashes', ANNOUNCER_STYLE],
          'connect-src': ['self'],
          'img-src': ['self', 'data:'],
          'font-src': ['self'],
          'form-action': ['self'],
          'frame-ancestors': ['none'],
          'object-src': ['none'],
          'base-uri': ['none'],
        },
      },
    }),
  ],
});
