export { showDemo } from './show.ts';
