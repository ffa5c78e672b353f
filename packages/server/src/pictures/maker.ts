/** The maker of pictures: what its process runs, and what people are told. */
import type { Logger } from '../logging/index.ts';
import { programIn } from '../program.ts';
import { createMaker, type Maker } from '../studio/maker.ts';
import type { Ask } from './ask.ts';

export const BUSY = 'Too many pictures are being drawn. Try again in a few seconds.';

export type PictureMaker = Maker<Ask>;

interface Options {
  folder: string;
  largest: number;
  memory: number;
  log: Logger;
}

export const createPictureMaker = (options: Options): PictureMaker =>
  createMaker<Ask>({
    ...options,
    program: programIn(import.meta.dirname, 'studio/program'),
    work: 'pictures',
    version: 3,
    busy: BUSY,
    deaths: {
      memory: 'This picture needs more memory than pictures may take. The image may have no small levels.',
      time: 'This picture took too long to draw. The image may have no small levels.',
      crash:
        'This picture could not be drawn: the process that draws pictures ended. Ask an administrator to look at the log.',
    },
  });
