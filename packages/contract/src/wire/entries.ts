/**
 * Validation entries: what a 422 answer lists, one per thing that is wrong.
 *
 * `{"type": "missing", "loc": ["body", "email"], "msg": "This field is required."}`. The offending value is never echoed:
 * it may be a password.
 */
import type { z } from 'zod';

export interface ValidationEntry {
  type: string;
  loc: (string | number)[];
  msg: string;
}

type Issue = z.core.$ZodIssue;
type Loc = (string | number)[];

const TYPE_OF_EXPECTED: Record<string, [type: string, message: string]> = {
  string: ['string_type', 'Enter a text.'],
  array: ['list_type', 'Enter a list.'],
  object: ['model_attributes_type', 'Enter an object.'],
  record: ['dict_type', 'Enter an object.'],
  null: ['none_required', 'Leave this empty.'],
};

function typeAndMessage(issue: Issue): [type: string, message: string] {
  switch (issue.code) {
    case 'custom':
      return [String(issue.params?.['type'] ?? 'value_error'), issue.message];
    case 'invalid_type':
      return issue.input === undefined
        ? ['missing', 'This field is required.']
        : (TYPE_OF_EXPECTED[issue.expected] ?? ['value_error', issue.message]);
    case 'too_small':
      if (issue.origin === 'string') return ['string_too_short', `Enter at least ${issue.minimum} characters.`];
      if (issue.origin === 'array') return ['too_short', `Enter at least ${issue.minimum}.`];
      return issue.inclusive
        ? ['greater_than_equal', `Must be at least ${issue.minimum}.`]
        : ['greater_than', `Must be greater than ${issue.minimum}.`];
    case 'invalid_format':
      return ['string_pattern_mismatch', 'This text has characters that are not allowed here.'];
    case 'invalid_value':
      return ['literal_error', `Choose one of: ${issue.values.join(', ')}.`];
    default:
      return ['value_error', issue.message];
  }
}

/** The wire's entries for zod's issues; `at` is where the value stands, for example `['body']`. */
export function entriesOf(issues: readonly Issue[], at: Loc): ValidationEntry[] {
  return issues.flatMap((issue): ValidationEntry[] => {
    const loc = [...at, ...(issue.path as Loc)];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        type: 'extra_forbidden',
        loc: [...loc, key],
        msg: 'This field is not known here.',
      }));
    }
    if (issue.code === 'invalid_key') {
      return [{ type: 'literal_error', loc: [...loc, '[key]'], msg: issue.issues[0]?.message ?? issue.message }];
    }
    const [type, msg] = typeAndMessage(issue);
    return [{ type, loc, msg }];
  });
}
