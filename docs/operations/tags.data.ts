/** The list on the page of all operations. */
import { readOperations } from '../.vitepress/operations.ts';

export default {
  load: () => readOperations().map(({ tag, name, count }) => ({ tag, link: `./${name}`, count })),
};
