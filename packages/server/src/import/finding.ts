/** What a rule finds in the source, as pieces of a SELECT. */
import type { Rule } from './rules.ts';

/** The id of what is no row of its own. */
export const NO_ROW = 'null';

/** Rows that a rule applies to; everything but the rule is SQL over `from`. */
export interface Finding {
  rule: Rule;
  from: string;
  where: string;
  id: string;
  /** What was, and what became of it. */
  text: string;
  /** What goes to the remainders. */
  content?: string;
  /** How its lines are sorted, where that is not by id. */
  order?: string;
}
