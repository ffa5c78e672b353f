/**
 * Takes bytes apart into lines, with a longest one: what is read here was written by the tasks of people, and a line
 * without an end must not fill the memory of the service.
 *
 * What comes is copied into memory that is used again, or given back at once: gigabytes may pass, and each buffer of its own
 * would wait for the garbage collector, outside of the memory that makes it hurry.
 */
const LINE_END = 0x0a;
const BLOCK = 64 * 1024;
const MOST_FREE_BLOCKS = 64;
/** A longer line has memory of its own. */
const LARGEST_KEPT_LINE = 4 * 2 ** 20;

const NOTHING = Buffer.allocUnsafeSlow(0);
/** For all who read: blocks in which no line waits, and where the last line was put together. */
const freeBlocks: Buffer<ArrayBuffer>[] = [];
let lineMemory = NOTHING;

/** Nobody sees it any more: a buffer that nobody holds would take its memory until garbage is collected. */
const giveBack = (memory: Buffer<ArrayBuffer>) => void memory.buffer.transfer(0);

export interface Lines {
  /**
   * Calls back for each line that is complete, with bytes that are gone when the call is over; false when one is longer than it
   * may be, or begins as none does.
   */
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
  /** All of them are full but the last. */
  let blocks: Buffer<ArrayBuffer>[] = [];
  let waiting = 0;

  function forget(): void {
    const free = blocks;
    [blocks, waiting] = [[], 0];
    freeBlocks.push(...free.splice(0, MOST_FREE_BLOCKS - freeBlocks.length));
    free.forEach(giveBack);
  }

  function keep(bytes: Buffer): void {
    for (let start = 0; start < bytes.length;) {
      const used = waiting % BLOCK;
      if (used === 0) blocks.push(freeBlocks.pop() ?? Buffer.allocUnsafeSlow(BLOCK));
      const copied = bytes.copy(blocks.at(-1)!, used, start);
      start += copied;
      waiting += copied;
    }
  }

  /** Hands on the bytes that wait, with the end of their line. */
  function complete(end: Buffer, onLine: (line: Buffer) => void): void {
    if (waiting === 0) return onLine(end);
    const length = waiting + end.length;
    const memory = lineMemory.length < length ? Buffer.allocUnsafeSlow(length) : lineMemory;
    blocks.forEach((block, index) => block.copy(memory, index * BLOCK, 0, waiting - index * BLOCK));
    end.copy(memory, waiting);
    forget();
    // nobody else's, should one that listens read lines, too
    lineMemory = NOTHING;
    try {
      onLine(memory.subarray(0, length));
    } finally {
      if (memory.length <= LARGEST_KEPT_LINE && memory.length > lineMemory.length) lineMemory = memory;
      else giveBack(memory);
    }
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
          keep(bytes.subarray(start));
          return true;
        }
        complete(bytes.subarray(start, at), onLine);
        start = at + 1;
      }
    },
    waiting: () => waiting,
    forget,
  };
}
