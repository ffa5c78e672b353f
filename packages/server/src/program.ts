/** Programs and threads that the service starts from its own sources: TypeScript in a checkout, JavaScript in a release. */
import { extname, join } from 'node:path';

export const programIn = (folder: string, name: string): string => join(folder, name + extname(import.meta.filename));
