/**
 * The manual at /manual/, for everybody, with or without an account.
 *
 * All its files are read once, when it is opened, and kept as they are sent (texts compressed), some megabytes: a request costs
 * a look into a table, whoever asks and however slowly they read, and no path leads anywhere else. Pages have a policy that
 * lets only their own scripts run.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

import { entityTag, isUnchanged } from '../http/index.ts';

const MANUAL_PATH = '/manual';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const COMPRESSED = new Set(['.webp', '.png', '.woff2']);

/** Names of these have a hash in them. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASKED_FOR = 'no-cache';

const HEADERS = {
  'x-frame-options': 'deny',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

interface File {
  type: string;
  etag: string;
  isText: boolean;
  /** Of a text, compressed. */
  content: Buffer;
  /** The same as it is, once somebody wanted it so. */
  plain?: Promise<Buffer>;
  cache: string;
  /** Of a page. */
  policy?: string;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

/** The one style that a script adds: it stops transitions while the reader changes between light and dark. */
const NO_TRANSITIONS = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='";

/** The scripts in a page, and no others. Its only styles beside files are those of single words in code. */
export function policyFor(html: string): string {
  const scripts = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g)].map(([, text]) => text!);
  const hashes = [...new Set(scripts)].map((text) => ` 'sha256-${sha256(text)}'`).join('');
  return (
    `default-src 'none'; script-src 'self'${hashes}; style-src 'self' ${NO_TRANSITIONS}; style-src-attr 'unsafe-inline'; ` +
    `img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; ` +
    `base-uri 'none'; form-action 'none'; object-src 'none'; frame-ancestors 'none'`
  );
}

async function readOne(path: string, name: string): Promise<File> {
  const content = await readFile(path);
  const ending = extname(name);
  const isText = !COMPRESSED.has(ending);
  return {
    type: TYPES[ending] ?? 'application/octet-stream',
    etag: entityTag(sha256(content.toString('latin1'))),
    isText,
    content: isText ? await promisify(gzip)(content) : content,
    cache: name.startsWith('assets/') ? FOR_EVER : ASKED_FOR,
    ...(ending === '.html' ? { policy: policyFor(content.toString()) } : {}),
  };
}

/** `guide/jobs.html` is at `guide/jobs`, `guide/index.html` at `guide/`: links on a page are relative to its address. */
const addressOf = (name: string) => name.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '');

async function readAll(build: string): Promise<Map<string, File>> {
  const files = new Map<string, File>();
  for (const entry of await readdir(build, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(build, path).split(sep).join('/');
    files.set(addressOf(name), await readOne(path, name));
  }
  return files;
}

const page = (title: string, text: string) => `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${text}</p>`;
const NOT_YET = page('Manual', 'The manual is being built. This page opens by itself in about half a minute.');
const NEVER = page(
  'Manual',
  'The manual is not built on this server. An administrator can build it: run <code>npm run build:manual</code> where the ' +
    'service is installed, and start the service again. The <a href="/help/">user guide</a> and the ' +
    '<a href="/docs">API reference</a> work without it.',
);

export interface Manual {
  /** From now on its pages are answered. */
  load(build: string): Promise<void>;
  /** There will be none. */
  giveUp(): void;
}

/** To be called before the application listens. */
export function mountManual(app: FastifyInstance): Manual {
  let files: Map<string, File> | 'not yet' | 'never' = 'not yet';

  async function send(request: FastifyRequest, reply: FastifyReply, file: File, status: number): Promise<FastifyReply> {
    const isPacked = file.isText && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    reply.code(status).headers({ ...HEADERS, 'cache-control': file.cache, etag: file.etag });
    if (file.isText) reply.header('vary', 'accept-encoding');
    if (file.policy !== undefined) reply.header('content-security-policy', file.policy);
    if (status === 200 && isUnchanged(request.headers, file)) return reply.code(304).send();
    reply.type(file.type);
    if (isPacked) reply.header('content-encoding', 'gzip');
    const content = isPacked || !file.isText ? file.content : await (file.plain ??= promisify(gunzip)(file.content));
    // of a HEAD the length alone is told
    return reply.header('content-length', content.length).send(request.method === 'HEAD' ? '' : content);
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [path = ''] = request.url.split('?', 1);
    // links of the first page are relative to the folder
    if (path === MANUAL_PATH) return reply.redirect(`${MANUAL_PATH}/`, 308);
    if (files === 'not yet')
      return reply.code(503).headers({ 'retry-after': '5', refresh: '3' }).type('text/html').send(NOT_YET);
    if (files === 'never') return reply.code(404).type('text/html').send(NEVER);
    const name = addressOf(path.slice(MANUAL_PATH.length + 1));
    const file = files.get(name);
    if (file !== undefined) return send(request, reply, file, 200);
    const meant = name.endsWith('/') ? name.slice(0, -1) : `${name}/`;
    if (files.has(meant)) return reply.redirect(`${MANUAL_PATH}/${meant}`, 308);
    const lost = files.get('404');
    return lost === undefined ? reply.code(404).send({ detail: 'Not Found' }) : send(request, reply, lost, 404);
  }

  for (const url of [MANUAL_PATH, `${MANUAL_PATH}/*`]) app.route({ method: ['GET', 'HEAD'], url, handler: answer });

  return {
    async load(build) {
      files = await readAll(build);
    },
    giveUp: () => (files = 'never'),
  };
}
