/**
 * Runs a command and keeps what it prints: `const { code, stdout } = await capture(host, ['squeue', '--noheader'])`.
 *
 * Programs of other people answer too: one that prints without end is ended, and of its complaints the beginning is kept.
 */
import type { Command, Commands, Finished, RunOptions } from './host.ts';

const MEBIBYTE = 2 ** 20;
const MOST_BYTES = 32 * MEBIBYTE;
const MOST_COMPLAINTS = 64 * 1024;

export interface Captured extends Finished {
  stdout: Buffer;
  stderr: string;
}

interface CaptureOptions extends Omit<RunOptions, 'onBytes' | 'onOutput'> {
  /** What it may print; the usual is 32 MiB. */
  mostBytes?: number;
}

export async function capture(
  commands: Commands,
  command: Command,
  { mostBytes = MOST_BYTES, ...options }: CaptureOptions = {},
): Promise<Captured> {
  const chunks: Buffer[] = [];
  let [size, stderr] = [0, ''];
  const finished = await commands.run(command, {
    ...options,
    onBytes(chunk) {
      size += chunk.length;
      if (size > mostBytes) {
        throw new Error(`${command[0]} printed more than ${Math.ceil(mostBytes / MEBIBYTE)} MiB and was ended.`);
      }
      chunks.push(chunk);
    },
    onOutput: (text) => void (stderr += text.slice(0, Math.max(0, MOST_COMPLAINTS - stderr.length))),
  });
  return { ...finished, stdout: Buffer.concat(chunks), stderr };
}
