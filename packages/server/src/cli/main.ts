/** `servicectl`: the operator's tool, on the same settings and data folder as the service. */
import { isOfKind } from '@service/contract/errors';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

import { fullVersion } from '../version.ts';

/** A command is loaded when it is asked for: most of them need little of the service. */
const loaded =
  <A extends unknown[]>(load: () => Promise<(...args: A) => Promise<void> | void>) =>
  async (...args: A) =>
    (await load())(...args);

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Enter a whole number.');
  return Number(text);
}

const program = new Command('servicectl')
  .description(
    'Operates the service. Settings come from the environment and from .service_server.env (see docs/settings.md).',
  )
  .addOption(new Option('-V, --version', 'print the version and end'))
  .on('option:version', () => {
    console.log(fullVersion());
    process.exit(0);
  })
  .exitOverride()
  .configureHelp({ showGlobalOptions: false });

program
  .command('start')
  .description('run the HTTP server; the database must be up to date (set-db)')
  .option('--host <address>', 'address to listen on (default: SERVICE_HOST or 127.0.0.1)')
  .option('-p, --port <number>', 'port to listen on (default: SERVICE_PORT or 8000)', wholeNumber)
  .option('--reload', 'start again when a source file changes (for development)')
  .action(loaded(async () => (await import('./start.ts')).start));
program
  .command('openapi')
  .description('write the OpenAPI description of the API to a file')
  .option('-f, --openapi-file <path>', 'file to write', 'openapi.json')
  .action(loaded(async () => (await import('./openapi.ts')).openapi));
program
  .command('set-db')
  .description('create the tables, or bring them up to date')
  .action(loaded(async () => (await import('./set-db.ts')).setDb));
program
  .command('init-db-data')
  .description('create the default group, the first administrator, the first resource and profile')
  .option('--resource <file>', '"default", or a JSON file with a resource; together with --profile')
  .option('--profile <file>', '"default", or a JSON file with a profile; together with --resource')
  .option('--admin-email <address>', 'first administrator; all three --admin options or none')
  .option('--admin-pwd <password>', 'its password; "-" reads it from standard input (also: SERVICE_ADMIN_PWD)')
  .option('--admin-project-dir <folder>', 'its project folder: an absolute path or an s3:// address')
  .action(loaded(async () => (await import('./init-db-data.ts')).initDbData));
program
  .command('update-db-data')
  .description('change stored data as this version needs it (asks before it does)')
  .action(loaded(async () => (await import('./update-db-data.ts')).updateDbData));
program
  .command('recent')
  .description('list jobs and task-group activities that run or ended lately; tells whether a restart is safe')
  .option('--minutes <number>', 'how far back to look', wholeNumber, 20)
  .action(loaded(async () => (await import('./recent.ts')).recent));
program
  .command('sync-core-tasks')
  .description('set the core-task flags from files')
  .requiredOption('--resources-and-groups <file>', 'JSON: [{"resource_id": 1, "user_group_id": 1}, …]')
  .option('--base <file>', 'JSON: [["package", "version", "task name"], …]')
  .option('--add <file>', 'tasks to add to those of --base, same form')
  .option('--remove <file>', 'tasks to take away again, same form')
  .action(loaded(async () => (await import('./sync-core-tasks.ts')).syncCoreTasks));
program
  .command('submissions-disable')
  .description('refuse new jobs on every resource, before maintenance')
  .action(async () => (await import('./submissions.ts')).setSubmissions(true));
program
  .command('submissions-enable')
  .description('accept new jobs on every resource again')
  .action(async () => (await import('./submissions.ts')).setSubmissions(false));
program
  .command('import-db')
  .description('import the database of an existing deployment, into an empty one; the source is only read')
  .addOption(new Option('--from <url>', 'postgresql://user@host:port/database, without password').conflicts('fromEnv'))
  .option('--from-env <file>', 'settings file of the existing deployment, with its POSTGRES_… variables')
  .addOption(new Option('--dry-run', 'try everything, print the report, and store nothing').conflicts('verify'))
  .option('--verify', 'compare again with the source what an earlier import stored')
  .option('--report <file>', 'write the report as JSON, too')
  .option('--orphans-to <email>', 'who gets projects without an owner (default: the first active superuser)')
  .option('--source-in-use', 'import although others are connected to the source')
  .option('--no-files', 'do not look for the files of jobs and environments')
  .action(loaded(async () => (await import('./import-db.ts')).importDb));
program
  .command('email-settings')
  .description('check and show the mail settings, password masked')
  .option('--send-test', 'also send a test message to the recipients')
  .action(loaded(async () => (await import('./email-settings.ts')).emailSettings));

/** Usage errors end with 2, everything that did not work with 1. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError)
    return error.exitCode === 0 || error.code === 'commander.help' ? error.exitCode && 2 : 2;
  if (isOfKind(error, 'settings', 'unusable-data', 'command-failed')) {
    console.error(error.message);
    return 1;
  }
  console.error(error);
  return 1;
}

try {
  await program.parseAsync();
  process.exit(process.exitCode ?? 0);
} catch (error) {
  process.exit(exitCodeOf(error));
}
