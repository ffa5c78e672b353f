/** Patterns for `ilike`, in which what a person typed stands for itself: `50%` finds `50%`, not everything. */

const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&');

/** The pattern of texts that have this one inside. */
export const contains = (text: string) => `%${literal(text)}%`;

/** The pattern of texts that begin with this one. */
export const startsWith = (text: string) => `${literal(text)}%`;
