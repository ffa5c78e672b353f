/** The description of the API: as a file for programs, to try out, and to read. */
import type { FastifyInstance } from 'fastify';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { referencePage } from './reference-page.ts';

/** Swagger UI, as the package ships it for Fastify. */
const SWAGGER_UI = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static');
const FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

const START_SCRIPT = `window.ui = SwaggerUIBundle({ url: '../openapi.json', dom_id: '#swagger-ui', deepLinking: true, withCredentials: true });`;

const tryOutPage = (title: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>${title}</title>
<base href="/docs/">
<link rel="stylesheet" href="swagger-ui.css"><link rel="icon" href="favicon-32x32.png">
</head>
<body><div id="swagger-ui"></div>
<script src="swagger-ui-bundle.js"></script><script src="start.js"></script>
</body>
</html>`;

const POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

interface Info {
  title: string;
  version: string;
}

/** The description is written when somebody first asks for it, so that the service starts without. */
export function serveDocumentation(app: FastifyInstance, info: Info, describe: () => Record<string, unknown>): void {
  let described: Record<string, unknown> | undefined;
  const document = () => (described ??= describe());
  // the same bytes for everybody: a thousand slow readers hold no copies
  let json: Buffer | undefined;
  let reading: Buffer | undefined;
  const files = new Map<string, Promise<Buffer>>();
  const contentOf = (file: string) => {
    const content = files.get(file) ?? readFile(join(SWAGGER_UI, file));
    files.set(file, content);
    return content;
  };
  app.get('/openapi.json', (_, reply) => {
    json ??= Buffer.from(JSON.stringify(document()));
    return reply.header('content-type', 'application/json').send(json);
  });
  app.get('/docs', (_, reply) =>
    reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY })
      .send(tryOutPage(info.title)),
  );
  app.get('/docs/start.js', (_, reply) => reply.header('content-type', 'text/javascript').send(START_SCRIPT));
  for (const [file, type] of Object.entries(FILES)) {
    app.get(`/docs/${file}`, async (_, reply) =>
      reply.headers({ 'content-type': type, 'cache-control': 'max-age=86400' }).send(await contentOf(file)),
    );
  }
  app.get('/redoc', (_, reply) => {
    reading ??= Buffer.from(referencePage(document(), `${info.title} ${info.version}`));
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY })
      .send(reading);
  });
}
