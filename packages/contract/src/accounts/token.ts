/** Personal access tokens: what people make for their programs. */
import { z } from 'zod';

import { TOKEN_SCOPES } from '../operation.ts';
import { found, reader, type Reading, wrong } from '../wire/problem.ts';
import { answer, choice, datetime, readName } from '../wire/scalars.ts';

const LONGEST_NAME = 100;

function readTokenName(input: unknown): Reading<string> {
  const reading = readName(input);
  if ('problem' in reading) return reading;
  return [...reading.value].length <= LONGEST_NAME
    ? found(reading.value)
    : wrong('string_too_long', `Use at most ${LONGEST_NAME} characters.`);
}

export const PersonalTokenCreate = z
  .strictObject({
    name: reader(readTokenName, { type: 'string', minLength: 1, maxLength: LONGEST_NAME }),
    scope: choice(TOKEN_SCOPES),
    timestamp_expires: datetime().meta({
      description: 'The end of the token, at most a year ahead unless set up otherwise.',
    }),
  })
  .meta({ id: 'PersonalTokenCreate' });
export type PersonalTokenCreate = z.output<typeof PersonalTokenCreate>;

export const PersonalToken = z
  .object({
    id: answer.integer(),
    name: answer.text(),
    scope: z.enum(TOKEN_SCOPES),
    timestamp_created: answer.time(),
    timestamp_expires: answer.time(),
    timestamp_last_used: answer.time().nullable().meta({ description: 'To the minute.' }),
    timestamp_revoked: answer.time().nullable(),
  })
  .meta({ id: 'PersonalTokenRead' });
export type PersonalToken = z.output<typeof PersonalToken>;

export const PersonalTokenMade = PersonalToken.extend({
  token: answer.text().meta({ description: 'The token itself. It is shown now and never again.' }),
}).meta({ id: 'PersonalTokenMade' });
export type PersonalTokenMade = z.output<typeof PersonalTokenMade>;
