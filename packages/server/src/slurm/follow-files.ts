/** Hands on what files of a job hold beyond what was read before, each up to a limit. */
import type { FileReader } from './file-reader.ts';

export interface GrowingFile {
  path: string;
  /** Bytes after which nothing more of it is read. */
  most: number;
  onBytes(bytes: Buffer): void;
}

/** Each call reads on, with one command; when it fails, the next one goes on where this one was. */
export function followFiles(files: FileReader, growing: readonly GrowingFile[]): () => Promise<void> {
  const read = growing.map(() => 0);
  const wanted = () =>
    growing.flatMap(({ path, most, onBytes }, index) => {
      const take = (bytes: Buffer) => {
        const fits = bytes.subarray(0, most - read[index]!);
        read[index]! += fits.length;
        onBytes(fits);
        return read[index]! < most;
      };
      return read[index]! < most ? [{ path, from: read[index]!, take }] : [];
    });
  return () => files.read(wanted());
}
