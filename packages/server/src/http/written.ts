/**
 * An answer that is JSON text already. Long parts of it come as texts from the database, and would be read and written again
 * on their way for nothing.
 *
 *     return new Written<Workflow>(objectText({ id, name }, { task_list: `[${tasks.join()}]` }));
 */
export class Written<Answer> {
  /** For the types alone: what the text says. */
  declare readonly says: Answer;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The text of an object: its plain fields, then those whose values are JSON texts, then the last ones. */
export function objectText(first: object, texts: Record<string, string>, last: object = {}): string {
  const plain = (fields: object) => {
    const text = JSON.stringify(fields);
    return text === '{}' ? [] : [text.slice(1, -1)];
  };
  const members = Object.entries(texts).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${[...plain(first), ...members, ...plain(last)].join(',')}}`;
}
