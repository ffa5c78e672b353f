/** On another machine a command line is one text for the login shell, which everybody there can read: secrets are not in it. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

import { commandLine, secretLines } from '../../src/hosts/ssh/words.ts';

const SECRETS = { PIP_INDEX_URL: `https://me:it's "s3cret" $HOME\\n@host/`, UV_INDEX: '', OTHER: ' spaces ' };

async function run(command: [string, ...string[]], secrets: Record<string, string>, input = '') {
  const line = commandLine(command, { mark: 'the-mark', env: { PLAIN: 'x' }, secrets });
  const child = spawn('/bin/sh', ['-c', line], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end(secretLines(secrets) + input);
  const printed = await text(child.stdout);
  return { line, printed: printed.slice(printed.indexOf('\n') + 1) };
}

describe('a command on another machine', () => {
  it('gets its secrets as variables, exactly, and the rest of what it is sent as its input', async () => {
    const script = 'printf "%s|" "$PIP_INDEX_URL" "$UV_INDEX" "$OTHER" "$PLAIN"; cat';
    const { line, printed } = await run(['sh', '-c', script], SECRETS, 'the input\nof the command');
    expect(printed).toBe(`${SECRETS.PIP_INDEX_URL}||${SECRETS.OTHER}|x|the input\nof the command`);
    expect(line).not.toContain('s3cret');
  });

  it('has them in no command line', async () => {
    const { printed } = await run(['sh', '-c', 'cat /proc/$$/cmdline /proc/$PPID/cmdline'], SECRETS);
    expect(printed).toContain('cmdline');
    expect(printed).not.toContain('s3cret');
  });

  it('is as before without any', async () => {
    expect((await run(['cat'], {}, 'all of it\n')).printed).toBe('all of it\n');
  });

  it('does not begin with half of them', async () => {
    const line = commandLine(['echo', 'begun'], { mark: 'm', secrets: { ONE: '', TWO: '' } });
    const child = spawn('/bin/sh', ['-c', line], { stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.end('only one line\n');
    expect((await text(child.stdout)).includes('begun')).toBe(false);
  });

  it.each([[{ 'A B': 'x' }], [{ 'A;ls': 'x' }], [{ '$(ls)': 'x' }]])('takes no other name: %j', (secrets) => {
    expect(() => commandLine(['true'], { mark: 'm', secrets })).toThrow('is not the name of a variable');
  });

  it('takes no value of several lines', () => {
    expect(() => secretLines({ A: 'x\ny' })).toThrow('The value of A has several lines.');
  });
});
