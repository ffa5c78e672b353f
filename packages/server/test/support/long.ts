/** Long runs try everything, others an example of everything that could break: CONTRIBUTING.md says which. */
export const LONG = Boolean(process.env['LONG']);

/** All cases in long runs; in others one of every so many, from the given one on. */
export const oneIn = <Case>(every: number, cases: readonly Case[], from = 0): Case[] =>
  cases.filter((_, number) => LONG || number % every === from);
