/** Runs a command and keeps what it prints: `const { code, stdout } = await capture(host, ['squeue', '--noheader'])`. */
import type { Command, Commands, Finished, RunOptions } from './host.ts';

export interface Captured extends Finished {
  stdout: Buffer;
  stderr: string;
}

export async function capture(
  commands: Commands,
  command: Command,
  options: Omit<RunOptions, 'onBytes' | 'onOutput'> = {},
): Promise<Captured> {
  const chunks: Buffer[] = [];
  let stderr = '';
  const finished = await commands.run(command, {
    ...options,
    onBytes: (chunk) => void chunks.push(chunk),
    onOutput: (text) => void (stderr += text),
  });
  return { ...finished, stdout: Buffer.concat(chunks), stderr };
}
