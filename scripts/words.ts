/**
 * Phrases that nobody in a microscopy facility would say: translations, not English. `npm run check:words` refuses them in
 * everything that people read, and says what to write instead.
 */

export interface Phrase {
  phrase: RegExp;
  /** What to write. */
  instead: string;
  /** Where the words are right: sentences, or parts of them, in which they are left alone. */
  except?: RegExp[];
}

export const PHRASES: Phrase[] = [
  { phrase: /\bis told\b/i, instead: 'say who gets to know it: "you are notified", "the log shows"' },
  { phrase: /\bgo(?:es)? on\b/i, instead: '"continues", "continue"' },
  { phrase: /\blies?\b/i, instead: '"is stored in", "is in"' },
  { phrase: /\bas usual\b/i, instead: '"(default)"' },
  { phrase: /\bat work\b/i, instead: '"running"' },
  { phrase: /(?:\d|\}) in all\b/i, instead: '"18 total"' },
  { phrase: /(?:\d|\}) a page\b/i, instead: '"10 per page"' },
  {
    phrase: /\bmay not\b/i,
    instead: '"You don\'t have permission to …" or "can\'t"',
    // what is possible, not what is allowed
    except: [/\bmay not (?:be able to|understand)\b/i],
  },
  {
    phrase: /\b(?:not|no|cannot|nobody) (?:[\w{}$.]+ ){0,6}any ?more\b/i,
    instead: '"no longer", "not found", "was deleted"',
  },
  { phrase: /\blike this\b/i, instead: 'say what: "with these settings"' },
  { phrase: /\bwhat is asked\b/i, instead: 'name it: "the question", "the request"' },
  { phrase: /\bpeople who run (?:it|this|the service)\b/i, instead: '"your administrator"' },
  { phrase: /\bstands? (?:beside|above|below|at the top)\b/i, instead: '"is shown", "is listed"' },
  { phrase: /\bbad luck\b/i, instead: 'the cause, or "at random"' },
  { phrase: /\bmet a defect\b/i, instead: '"Server error."' },
  { phrase: /\bto come\b/i, instead: '"pending"' },
  { phrase: /\bnot (?:yet )?begun\b/i, instead: '"not started"' },
  { phrase: /\bonce more\b/i, instead: '"again", "confirm"' },
  { phrase: /\btakes? (?:\w+ )?over\b/i, instead: '"import", "use"' },
  { phrase: /\bby any part\b/i, instead: '"matches any part of"' },
  { phrase: /\bpeople see it\b/i, instead: 'say who sees what' },
  { phrase: /\bgoing on\b/i, instead: '"running"' },
  { phrase: /\btaken over\b|\bcannot be taken back\b/i, instead: '"imported"; "You can’t undo this."' },
  { phrase: /\bat present\b/i, instead: '"right now"' },
  { phrase: /\bsome seconds\b/i, instead: '"a few seconds"' },
  { phrase: /\bis there (?:already|twice)\b/i, instead: '"exists already", "is listed twice"' },
  { phrase: /\bwho runs the cluster\b/i, instead: '"the administrators of the cluster"' },
  { phrase: /\bif it stays\b/i, instead: '"if it keeps happening"' },
  { phrase: /\blook (?:at|into) your connection\b/i, instead: '"check your connection"' },
];
