import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [
    sveltekit({
      adapter: adapter(),
      csp: {
        mode: 'auto',
        // No 'unsafe-inline': a style attribute in delivered HTML is ignored, so give classes or SVG attributes.
        directives: {
          'default-src': ['none'],
          'script-src': ['self'],
          'style-src': ['self'],
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
