/** What is wrong with a name while it is typed, of what is left of it when it is sent. */
import { nameProblem } from '@service/contract/names';

import { cleanText } from './clean.ts';

export const typedNameProblem = (name: string): string | undefined => nameProblem(cleanText(name));
