/** Longer than any path: damaged metadata may name files by megabytes of text. */
const LONGEST = 5000;

/** Something that cannot be drawn, with a text that names the file and says why. An answer, not a defect. */
export class Unreadable {
  readonly text: string;
  /** Nothing is there at all. */
  readonly isMissing: boolean;

  constructor(text: string, isMissing = false) {
    this.text = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
    this.isMissing = isMissing;
  }
}

export const unreadable = (text: string) => new Unreadable(text);

export const missing = (text: string) => new Unreadable(text, true);
