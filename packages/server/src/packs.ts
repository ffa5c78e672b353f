/** Which operations have bodies with long lists, and what becomes of them. */
import { projects } from '@service/contract';

import { packBulk, packImport } from './engine/image-rows.ts';
import type { Packs } from './http/index.ts';

export const PACKS: Packs = {
  [projects.importDataset.id]: packImport,
  [projects.changeImages.id]: packBulk,
};
