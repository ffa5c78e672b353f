/**
 * Where commands run and files live: this machine, another account of it, another machine.
 *
 * What is done with task groups and jobs is written once, against this interface. Commands are argument vectors; nothing
 * here passes through a shell.
 */
import { ServiceError } from '@service/contract/errors';

/** A process that was started; the start time tells it from a later one with the same number. */
export interface ProcessHandle {
  pid: number;
  started: string;
}

/** The host cannot be reached, or the connection to it broke. What was asked may have happened; ask again. */
export class HostAway extends ServiceError {
  readonly kind = 'host-away';
  /** Asking again helps only after a person changed something: a key, an account, a line of a file. */
  readonly needsPerson: boolean;

  constructor(message: string, options?: ErrorOptions & { needsPerson?: boolean }) {
    super(message, options);
    this.needsPerson = options?.needsPerson ?? false;
  }
}

/** A command took longer than it may, and was ended. */
export class HostTimeout extends ServiceError {
  readonly kind = 'host-timeout';
  readonly program: string;

  constructor(program: string, words: string) {
    super(`${program} ${words}`);
    this.program = program;
  }
}

export type Command = readonly [string, ...string[]];

export interface RunOptions {
  cwd?: string;
  /** Added to the environment that commands get anyway. */
  env?: Record<string, string>;
  /** Added to its environment as well, and never a part of a command line, which everybody on a machine can read. */
  secrets?: Record<string, string>;
  /** It installs packages: it sees how installers are set up in the environment of the service, credentials included. */
  installs?: boolean;
  /** What the command reads; without it, nothing. Taken only as fast as the command reads. */
  input?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Called with what the command prints, while it runs; never with half a character. A promise holds the command back
   * until it is kept. What it throws ends the command, and is what the call fails with.
   */
  onOutput?: (text: string, from: 'stdout' | 'stderr') => Promise<void> | void;
  /** The same with the standard output as it comes, which then does not go to `onOutput`. */
  onBytes?: (chunk: Buffer) => Promise<void> | void;
  onStart?: (handle: ProcessHandle) => Promise<void> | void;
  /** Ends the command and all it started. */
  signal?: AbortSignal;
  /** From the call on. A command that runs longer is ended, and the call fails with `HostTimeout`. */
  timeoutMs?: number;
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

/** Who runs commands: a host, or an account of it. */
export interface Commands {
  run(command: Command, options?: RunOptions): Promise<Finished>;
}

export interface Host extends Commands {
  /** Starts a command that goes on when the service ends; what it prints goes to a file. */
  launch(command: Command, options: LaunchOptions): Promise<ProcessHandle>;
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
