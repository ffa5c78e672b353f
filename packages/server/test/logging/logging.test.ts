import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it, vi } from 'vitest';

import { createLogging } from '../../src/logging/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-logging-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What is written to the console while something runs. */
function written(work: () => void): string {
  let text = '';
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    work();
  } finally {
    stderr.mockRestore();
  }
  return text;
}

const config = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('built-in logging', () => {
  it('writes time, name, level and message to the console, from the level on', () => {
    const text = written(() => {
      const log = createLogging({ level: 20, configFile: null }).logger('lifespan.startup');
      log.debug('unseen');
      log.info('seen');
    });
    expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - lifespan\.startup - INFO - seen\n$/);
  });

  it('shows the stack of an error', () => {
    const text = written(() =>
      createLogging({ level: 20, configFile: null }).logger('http').error('broken', new Error('why')),
    );
    expect(text).toMatch(/ERROR - broken\nError: why\n\s+at /);
  });
});

describe('what others wrote', () => {
  const FORGED = '2026-01-01 00:00:00,000 - accounts - INFO - all is well';

  it('makes no line of its own, and gives no orders to a terminal', () => {
    const text = written(() => {
      const log = createLogging({ level: 20, configFile: null }).logger('http');
      log.info(`first\r\n${FORGED}\u001b[2J`);
      log.error('second', new Error(`why\n${FORGED}`));
    });
    expect(text).not.toMatch(new RegExp(`^${FORGED}`, 'm'));
    expect(text).not.toContain('\u001b');
    expect(text).toContain('\\x1b[2J');
  });
});

describe('LOG_CONFIG_FILE', () => {
  it('is used alone: levels by logger, separate files, no console', () => {
    const path = config(
      'full.yaml',
      `version: 1
disable_existing_loggers: false
formatters:
  plain: {format: "%(levelname)s|%(name)s|%(message)s"}
  dated: {format: "%(asctime)s %(message)s", datefmt: "%Y-%m-%d"}
  json: {json: true}
handlers:
  main: {class: logging.FileHandler, filename: ${folder}/main.log, formatter: plain}
  access: {class: logging.FileHandler, filename: ${folder}/access.log, formatter: json}
  loud: {class: logging.FileHandler, filename: ${folder}/errors.log, level: ERROR, formatter: dated}
loggers:
  access: {level: DEBUG, handlers: [access], propagate: false}
  lifespan: {level: DEBUG}
root: {level: WARNING, handlers: [main, loud]}
`,
    );
    const text = written(() => {
      const logging = createLogging({ level: 50, configFile: path });
      logging.logger('access').debug('GET /');
      logging.logger('lifespan.startup').debug('starts');
      logging.logger('http').info('unseen');
      logging.logger('http').error('broken');
    });
    expect(text).toBe('');
    expect(read('main.log')).toBe('DEBUG|lifespan.startup|starts\nERROR|http|broken\n');
    expect(JSON.parse(read('access.log'))).toMatchObject({ logger: 'access', level: 'debug', message: 'GET /' });
    expect(read('errors.log')).toMatch(/^\d{4}-\d\d-\d\d broken\n$/);
  });

  it('sets files aside when they are full', () => {
    const path = config(
      'rotating.json',
      JSON.stringify({
        handlers: {
          file: {
            class: 'logging.handlers.RotatingFileHandler',
            filename: join(folder, 'r.log'),
            maxBytes: 60,
            backupCount: 2,
            formatter: 'm',
          },
        },
        formatters: { m: { format: '%(message)s' } },
        root: { level: 'INFO', handlers: ['file'] },
      }),
    );
    const log = createLogging({ level: 20, configFile: path }).logger('x');
    for (let index = 0; index < 12; index++) log.info(`line ${index} with some text`);
    expect(read('r.log')).toContain('line 11');
    expect(read('r.log.1')).toContain('line 9');
    expect(read('r.log.2')).toContain('line 7');
  });

  it.each([
    ['empty', ''],
    ['missing', '/no/such/file'],
    ['not YAML', config('bad.yaml', 'a: [b')],
    ['an unknown handler class', config('class.yaml', 'handlers: {h: {class: my.Handler}}')],
    ['an unknown level', config('level.yaml', 'root: {level: LOUD}')],
    ['a handler that is not there', config('handler.yaml', 'root: {handlers: [x]}')],
    ['a list', config('list.yaml', '- 1')],
  ])('that is %s is reported, and built-in logging used', (_, path) => {
    const text = written(() => createLogging({ level: 20, configFile: path }).logger('x').info('still here'));
    expect(text).toMatch(/ERROR - LOG_CONFIG_FILE is not used[^\n]*\n/);
    expect(text).toMatch(/x - INFO - still here\n$/);
  });
});
