/** schemathesis makes requests from the OpenAPI description; no answer may be a failure of ours. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LONG } from '../packages/server/test/support/long.ts';
import { remove, ROOT, type Running, startService, temporaryFolder } from './support/processes.ts';

const SECONDS = LONG ? 300 : 10;
const VERSION = '4.32.5';
const ENVIRONMENT = join(ROOT, 'node_modules/.cache', `schemathesis-${VERSION}`);
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

/** Installed once and kept beside the other packages. */
function schemathesis(): string {
  const program = join(ENVIRONMENT, 'bin/schemathesis');
  if (!existsSync(program)) {
    const run = (command: string, args: string[]) => {
      const done = spawnSync(command, args, { encoding: 'utf8' });
      if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${done.stderr}`);
    };
    run('python3', ['-m', 'venv', ENVIRONMENT]);
    run(join(ENVIRONMENT, 'bin/pip'), ['install', '--quiet', '--no-compile', `schemathesis==${VERSION}`]);
  }
  return program;
}

let service: Running;
let url: string;
let program: string;
const folder = temporaryFolder('fuzz');

beforeAll(async () => {
  program = schemathesis();
  service = startService(['--port', '0', '--data-dir', join(folder, 'data'), '--admin-pwd', 'fuzz-password']);
  url = (await service.said(/answers at (http:\/\/\S+)/))[1]!;
}, 600_000);
afterAll(async () => {
  service.process.kill('SIGTERM');
  await service.ended;
  remove(folder);
});

describe.runIf(LONG)('requests made from the description', () => {
  it(
    `get answers that the description knows, and never a 500, for ${SECONDS} seconds`,
    async () => {
      const body = new URLSearchParams({ username: 'admin@example.org', password: 'fuzz-password' });
      const login = await fetch(`${url}/auth/token/login/`, { method: 'POST', body });
      const { access_token: token } = (await login.json()) as { access_token: string };
      const args = ['run', `${url}/openapi.json`, '--header', `Authorization: Bearer ${token}`, '--checks', CHECKS];
      const bounds = ['--max-time', String(SECONDS), '--phases', 'coverage,fuzzing', '--warnings', 'off'];
      // whoever signs out everywhere has no token for the rest
      bounds.push('--exclude-path-regex', 'sign-out-everywhere');
      const done = spawnSync(program, [...args, ...bounds], { encoding: 'utf8', cwd: folder });
      expect(done.stdout).toContain('No issues found');
      expect(service.output()).not.toContain('ERROR');
      const { text, status } = await fetch(`${url}/metrics`).then(async (answer) => ({
        text: await answer.text(),
        status: answer.status,
      }));
      expect(status).toBe(200);
      // the token was good until the end: operations of administrators were reached
      expect(text).toMatch(/route="\/(admin|auth\/(group|users))[^"]*",status="20\d"/);
      const users = await fetch(`${url}/auth/users/`, { headers: { authorization: `Bearer ${token}` } });
      expect(users.status).toBe(200);
      expect(text).not.toMatch(/status="500"/);
    },
    (SECONDS + 60) * 1000,
  );
});
