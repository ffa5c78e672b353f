/** Requests as they are written: fetch would tidy addresses up, and write some headers itself. */
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RawRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export function ask(origin: string, target: string, { method = 'GET', headers, body }: RawRequest = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const { hostname, port } = new URL(origin);
  const request = httpRequest({ hostname, port, path: target, method, headers: headers ?? {} });
  request.once('response', (response) => {
    const done = (content: string) =>
      resolve({ status: response.statusCode!, headers: response.headers, text: content });
    text(response).then(done, reject);
  });
  request.once('error', reject);
  request.end(body);
  return promise;
}
