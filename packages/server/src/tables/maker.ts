/** The maker of what is read from tables: what its process runs, and what people are told. */
import type { Logger } from '../logging/index.ts';
import { programIn } from '../program.ts';
import { createMaker, type Maker } from '../studio/maker.ts';
import type { Ask } from './ask.ts';

export const BUSY = 'Too many tables are being read. Try again in a few seconds.';

export type TableMaker = Maker<Ask>;

interface Options {
  folder: string;
  largest: number;
  memory: number;
  log: Logger;
}

const LESS = 'Choose fewer columns or images.';

export const createTableMaker = (options: Options): TableMaker =>
  createMaker<Ask>({
    ...options,
    program: programIn(import.meta.dirname, 'work/program'),
    work: 'tables',
    version: 1,
    busy: BUSY,
    deaths: {
      memory: `This needs more memory than reading tables may take. ${LESS}`,
      time: `Reading this took too long. ${LESS}`,
      crash:
        'This table could not be read: the process that reads tables ended. Ask an administrator to look at the log.',
    },
  });
