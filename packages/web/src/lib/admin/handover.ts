/** A sentence that one page leaves for the next one, such as what is still to be done with a new account. */
let left: string | undefined;

export function leaveWord(text: string): void {
  left = text;
}

export function takeWord(): string | undefined {
  const text = left;
  left = undefined;
  return text;
}
