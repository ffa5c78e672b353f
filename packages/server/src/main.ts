/** `npm start`, and `bin/service` of a release: one command that gives a service to work with. */
import { isOfKind } from '@service/contract/errors';
import { Command, InvalidArgumentError, Option } from 'commander';

import { run } from './run.ts';
import { SettingsError } from './settings/index.ts';
import { fullVersion, RELEASE } from './version.ts';
import { givenPassword, loadSettings } from './workplace.ts';

function portNumber(text: string): string {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return text;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}

const command = new Command(RELEASE ? 'service' : 'npm start --')
  .description('Starts the service. Without options it works at once, with a database of its own in the data folder.')
  .option('-p, --port <number>', 'port to listen on (SERVICE_PORT, default 8000)', portNumber)
  .option('--host <address>', 'address to listen on (SERVICE_HOST, default 127.0.0.1)')
  .option(
    '--data-dir <folder>',
    'folder for everything the service keeps (SERVICE_DATA_DIR, default ' +
      (RELEASE ? 'data, beside the folder of the release)' : './data)'),
  )
  .option('--admin-email <address>', 'first administrator (SERVICE_ADMIN_EMAIL, default admin@example.org)')
  .option(
    '--admin-pwd <password>',
    'its password; "-" reads it from standard input (SERVICE_ADMIN_PWD, default: made up and printed once)',
  )
  .option(
    '--admin-project-dir <folder>',
    'its project folder (SERVICE_ADMIN_PROJECT_DIR, default <data folder>/projects)',
  )
  .option('--no-web', 'the API alone, without the web client (SERVICE_WEB_CLIENT, default true)')
  .option('--demo', 'make a project with workflows that have run, to look at')
  .addOption(new Option('-V, --version', 'print the version and end'))
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse();

interface Options {
  port?: string;
  host?: string;
  dataDir?: string;
  adminEmail?: string;
  adminPwd?: string;
  adminProjectDir?: string;
  web: boolean;
  demo?: true;
  version?: true;
}

const options = command.opts<Options>();
if (options.version) {
  console.log(fullVersion());
  process.exit(0);
}

try {
  const settings = loadSettings({
    SERVICE_PORT: options.port,
    SERVICE_HOST: options.host,
    SERVICE_DATA_DIR: options.dataDir,
    SERVICE_ADMIN_EMAIL: options.adminEmail,
    SERVICE_ADMIN_PWD: givenPassword(options.adminPwd),
    SERVICE_ADMIN_PROJECT_DIR: options.adminProjectDir,
    SERVICE_WEB_CLIENT: options.web ? undefined : 'false',
  });
  await run(settings, {
    setUp: true,
    web: true,
    onReady: async ({ administrator, ...service }) => {
      const { address, web, settings: used } = service;
      const lines = [
        `The service answers at ${address}`,
        ...(web === undefined ? [] : [`  Open            ${web}/`, `  Manual          ${web}/manual/`]),
        `  API reference   ${address}/docs`,
        `  Data folder     ${used.start.SERVICE_DATA_DIR}`,
      ];
      if (administrator?.password !== undefined) {
        lines.push(
          `  Administrator   ${administrator.email}`,
          `  Password        ${administrator.password}   (shown only this once)`,
        );
      }
      if (administrator?.isNew && web !== undefined && !options.demo)
        lines.push(
          'New here? Sign in and press "Try with the demo plate": a plate is measured in about half a minute.',
        );
      console.log(`${lines.join('\n')}\nStop it with Ctrl-C.`);
      if (!options.demo) return;
      const { showDemo } = await import('./demo/index.ts');
      await showDemo({ ...service, email: administrator!.email });
    },
  });
  process.exit(0);
} catch (error) {
  if (!isOfKind(error, 'settings', 'unusable-data')) throw error;
  console.error(error.message);
  process.exit(error instanceof SettingsError && error.of === 'web' ? 2 : 1);
}
