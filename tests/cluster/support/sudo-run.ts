/**
 * Runs one command as the service does for a person. A program of its own, because it has to run as the account of the
 * service: `sudo-run.ts '{"username": "alice", "command": ["id"]}'` prints how that ended, as JSON.
 */
import { capture, sudoCommands } from '../../../packages/server/src/hosts/index.ts';

export interface Asked {
  username: string;
  command: [string, ...string[]];
  options?: { input?: string; timeoutMs?: number; cwd?: string };
}

const { username, command, options } = JSON.parse(process.argv[2]!) as Asked;
try {
  const { stdout, ...rest } = await capture(sudoCommands(username), command, options);
  console.log(JSON.stringify({ ...rest, stdout: stdout.toString() }));
} catch (error) {
  const { name, message } = error as Error;
  console.log(JSON.stringify({ problem: name, message }));
}
process.exit();
