/** `servicectl`: the operator's tool, on the same settings and data folder as the service. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';

import { UnusableData } from '../accounts/index.ts';
import { SettingsError } from '../settings/index.ts';
import { emailSettings } from './email-settings.ts';
import { initDbData } from './init-db-data.ts';
import { openapi } from './openapi.ts';
import { recent } from './recent.ts';
import { setDb } from './set-db.ts';
import { start } from './start.ts';
import { setSubmissions } from './submissions.ts';
import { syncCoreTasks } from './sync-core-tasks.ts';
import { CommandFailed } from './tools.ts';
import { updateDbData } from './update-db-data.ts';

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Enter a whole number.');
  return Number(text);
}

const program = new Command('servicectl')
  .description(
    'Operates the service. Settings come from the environment and from .service_server.env (see docs/settings.md).',
  )
  .exitOverride()
  .configureHelp({ showGlobalOptions: false });

program
  .command('start')
  .description('run the HTTP server; the database must be up to date (set-db)')
  .option('--host <address>', 'address to listen on (default: SERVICE_HOST or 127.0.0.1)')
  .option('-p, --port <number>', 'port to listen on (default: SERVICE_PORT or 8000)', wholeNumber)
  .option('--reload', 'start again when a source file changes (for development)')
  .action(start);
program
  .command('openapi')
  .description('write the OpenAPI description of the API to a file')
  .option('-f, --openapi-file <path>', 'file to write', 'openapi.json')
  .action(openapi);
program.command('set-db').description('create the tables, or bring them up to date').action(setDb);
program
  .command('init-db-data')
  .description('create the default group, the first administrator, the first resource and profile')
  .option('--resource <file>', '"default", or a JSON file with a resource; together with --profile')
  .option('--profile <file>', '"default", or a JSON file with a profile; together with --resource')
  .option('--admin-email <address>', 'first administrator; all three --admin options or none')
  .option('--admin-pwd <password>', 'its password; "-" reads it from standard input (also: SERVICE_ADMIN_PWD)')
  .option('--admin-project-dir <folder>', 'its project folder: an absolute path or an s3:// address')
  .action(initDbData);
program
  .command('update-db-data')
  .description('change stored data as this version needs it (asks before it does)')
  .action(updateDbData);
program
  .command('recent')
  .description('list jobs and task-group activities that run or ended lately; tells whether a restart is safe')
  .option('--minutes <number>', 'how far back to look', wholeNumber, 20)
  .action(recent);
program
  .command('sync-core-tasks')
  .description('set the core-task flags from files')
  .requiredOption('--resources-and-groups <file>', 'JSON: [{"resource_id": 1, "user_group_id": 1}, …]')
  .option('--base <file>', 'JSON: [["package", "version", "task name"], …]')
  .option('--add <file>', 'tasks to add to those of --base, same form')
  .option('--remove <file>', 'tasks to take away again, same form')
  .action(syncCoreTasks);
program
  .command('submissions-disable')
  .description('refuse new jobs on every resource, before maintenance')
  .action(() => setSubmissions(true));
program
  .command('submissions-enable')
  .description('accept new jobs on every resource again')
  .action(() => setSubmissions(false));
program
  .command('email-settings')
  .description('check and show the mail settings, password masked')
  .option('--send-test', 'also send a test message to the recipients')
  .action(emailSettings);

/** Usage errors end with 2, everything that did not work with 1. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError)
    return error.exitCode === 0 || error.code === 'commander.help' ? error.exitCode && 2 : 2;
  if (error instanceof SettingsError || error instanceof UnusableData || error instanceof CommandFailed) {
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
