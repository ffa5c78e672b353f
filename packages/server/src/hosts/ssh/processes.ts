/** Processes of the far side that an earlier life of the service may have started. */
import { capture } from '../capture.ts';
import type { Command, Commands, ProcessHandle } from '../host.ts';
import { endCommand, groupOf } from './run.ts';

const GONE = 3;

/** Leaves with code 3 unless the process `$1` is the one that began at `$2`; goes on with the words after them. */
const IF_SAME = [
  'pid=$1 began=$2',
  'shift 2',
  '{ read -r stat </proc/$pid/stat; } 2>/dev/null || exit 3',
  'test "$(set -- ${stat##*) }; case $1 in Z|X) ;; *) echo "${20}";; esac)" = "$began" || exit 3',
].join('; ');

export function createProcesses(commands: Commands, name: string) {
  /** Whether it is this process and `then` went well. */
  async function ifSame(
    { pid, started }: ProcessHandle,
    then: string,
    words: readonly string[] = [],
  ): Promise<boolean> {
    if (started === '') return false;
    const command: Command = ['/bin/sh', '-c', `${IF_SAME}; ${then}`, 'process', String(pid), started, ...words];
    const { code, stderr } = await capture(commands, command);
    if (code !== 0 && code !== GONE) throw new Error(`Process ${pid} of ${name} cannot be asked for: ${stderr.trim()}`);
    return code === 0;
  }

  return {
    isAlive: (handle: ProcessHandle) => ifSame(handle, 'exit 0'),
    signal: (handle: ProcessHandle, signal: NodeJS.Signals) =>
      ifSame(handle, `kill -s "$1" "$pid" 2>/dev/null || exit ${GONE}`, [signal.replace(/^SIG/, '')]),
    endLeftOver: (handle: ProcessHandle) => ifSame(handle, 'exec "$@"', endCommand([groupOf(handle)])),
  };
}
