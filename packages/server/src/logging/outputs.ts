/** Where log lines go: the console, a file, a file that is set aside when it grows or when a day is over. */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Output {
  write(line: string): void;
}

export const consoleOutput = (stream: NodeJS.WriteStream): Output => ({
  write: (line) => void stream.write(`${line}\n`),
});

export const noOutput: Output = { write: () => undefined };

interface Rotation {
  /** Bytes after which the file is set aside; 0 = never. */
  maxBytes: number;
  /** A new file each day. */
  daily: boolean;
  /** How many old files stay. */
  keep: number;
}

/**
 * Appends to a file. With `rotation`, `service.log` becomes `service.log.1`, which becomes `service.log.2`, and so on.
 * Writes are synchronous: the last line before a crash is the one that matters.
 */
export function fileOutput(path: string, rotation: Rotation = { maxBytes: 0, daily: false, keep: 0 }): Output {
  mkdirSync(dirname(path), { recursive: true });
  let file = openSync(path, 'a');
  let bytes = fstatSync(file).size;
  let day = new Date().toDateString();

  const setAside = () => {
    closeSync(file);
    for (let number = rotation.keep; number >= 1; number--) {
      const older = number === 1 ? path : `${path}.${number - 1}`;
      try {
        renameSync(older, `${path}.${number}`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    file = openSync(path, rotation.keep === 0 ? 'w' : 'a');
    bytes = 0;
    day = new Date().toDateString();
  };

  return {
    write(line) {
      const data = Buffer.from(`${line}\n`);
      const full = rotation.maxBytes > 0 && bytes > 0 && bytes + data.length > rotation.maxBytes;
      const over = rotation.daily && day !== new Date().toDateString();
      if (full || over) setAside();
      bytes += writeSync(file, data);
    },
  };
}
