/**
 * A place where commands run and files live: this machine, another account of it, another machine.
 *
 * What is done with task groups and jobs is written once, against this interface. Commands are argument vectors; nothing
 * here passes through a shell.
 */

/** A process that was started; the start time tells it from a later one with the same number. */
export interface ProcessHandle {
  pid: number;
  started: string;
}

export interface RunOptions {
  cwd?: string;
  /** Added to the environment that commands get anyway. */
  env?: Record<string, string>;
  /** Called with what the command prints, while it runs; never with half a character. */
  onOutput?: (text: string, from: 'stdout' | 'stderr') => void;
  onStart?: (handle: ProcessHandle) => Promise<void> | void;
  /** Ends the command and all it started. */
  signal?: AbortSignal;
}

export interface LaunchOptions {
  cwd: string;
  output: string;
  /** Called when it ends, while the service that started it is still there. */
  onExit?: () => void;
}

export interface Finished {
  code: number | null;
  signal: string | null;
}

export interface Host {
  run(command: readonly [string, ...string[]], options?: RunOptions): Promise<Finished>;
  /** Starts a command that goes on when the service ends; what it prints goes to a file. */
  launch(command: readonly [string, ...string[]], options: LaunchOptions): Promise<ProcessHandle>;
  isAlive(handle: ProcessHandle): Promise<boolean>;
  /** Signals one process; false when it is no more. */
  signal(handle: ProcessHandle, signal: NodeJS.Signals): Promise<boolean>;
  /** Ends a process of an earlier life of the service, with all it started; true when it was still there. */
  endLeftOver(handle: ProcessHandle): Promise<boolean>;
  kindOf(path: string): Promise<'file' | 'folder' | undefined>;
  readText(path: string): Promise<string>;
  writeText(path: string, text: string, mode?: number): Promise<void>;
  /** Brings a file of this machine there. */
  bring(localPath: string, path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or folder with all that is in it; nothing there is fine. */
  remove(path: string): Promise<void>;
}
