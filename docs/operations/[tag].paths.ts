/** A page for each tag of the API. */
import { readOperations } from '../.vitepress/operations.ts';

export default {
  paths: () => readOperations().map(({ name, tag, content }) => ({ params: { tag: name, title: tag }, content })),
};
