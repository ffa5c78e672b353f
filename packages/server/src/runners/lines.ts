/**
 * Takes bytes apart into lines, with a longest one: what is read here was written by the tasks of people, and a line
 * without an end must not fill the memory of the service.
 */
const LINE_END = 0x0a;

export interface Lines {
  /** Calls back for each line that is complete; false when one is longer than it may be, or begins as none does. */
  take(bytes: Buffer, onLine: (line: Buffer) => void): boolean;
  /** Bytes of a line that is not complete yet. */
  waiting(): number;
  /** Drops them: they will come again. */
  forget(): void;
}

export interface LineRules {
  longest(): number;
  /** How every line begins: what does not is no line, and its end is not waited for. */
  begins?: number;
}

export function createLines({ longest, begins }: LineRules): Lines {
  let parts: Buffer[] = [];
  let waiting = 0;

  function forget(): void {
    [parts, waiting] = [[], 0];
  }

  function lineOf(end: Buffer): Buffer {
    if (waiting === 0) return end;
    const line = Buffer.concat([...parts, end]);
    forget();
    return line;
  }

  return {
    take(bytes, onLine) {
      for (let start = 0; ;) {
        const at = bytes.indexOf(LINE_END, start);
        const end = at < 0 ? bytes.length : at;
        const isOdd = at < 0 && waiting === 0 && end > start && begins !== undefined && bytes[start] !== begins;
        if (isOdd || waiting + end - start > longest()) {
          forget();
          return false;
        }
        if (at < 0) {
          // a copy: a small rest would keep a large buffer
          if (end > start) parts.push(Buffer.from(bytes.subarray(start)));
          waiting += end - start;
          return true;
        }
        onLine(lineOf(bytes.subarray(start, at)));
        start = at + 1;
      }
    },
    waiting: () => waiting,
    forget,
  };
}
