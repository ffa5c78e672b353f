/** Something that cannot be drawn, with a text that names the file and says why. An answer, not a defect. */
export class Unreadable {
  readonly text: string;
  /** Nothing is there at all. */
  readonly isMissing: boolean;

  constructor(text: string, isMissing = false) {
    this.text = text;
    this.isMissing = isMissing;
  }
}

export const unreadable = (text: string) => new Unreadable(text);

export const missing = (text: string) => new Unreadable(text, true);
