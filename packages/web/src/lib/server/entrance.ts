/** What every request has to pass before anything is done for it: whose page sent it, and how much it brings. */
import { isOfForeignPage, senderOf } from '@service/contract';
import { text } from '@sveltejs/kit';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Forms of ours are far smaller. Calls of the API are passed on as streams, and the API has limits of its own. */
const LARGEST_FORM = 64 * 1024;

const OTHER_SITE = 'This request came from another web site. Repeat it in the client itself.';
const TOO_LARGE = 'A form has at most 64 kB. Send less.';

/** A page of another site made the browser send this, with our cookies. */
export function refusalOfForeignPage(request: Request, url: URL): Response | undefined {
  if (READS.has(request.method)) return undefined;
  const sender = senderOf((name) => request.headers.get(name) ?? undefined);
  if (!isOfForeignPage(sender, { host: url.host, trusted: [] })) return undefined;
  return Response.json({ detail: OTHER_SITE, message: OTHER_SITE }, { status: 403 });
}

/** What is left of the body is not wanted, so the connection ends with the answer. */
const refuseLarge = () => text(TOO_LARGE, { status: 413, headers: { connection: 'close' } });

/** The bytes of a body, or undefined when there are too many; counted as they come, and not one more is read. */
async function fewBytes(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks);
      size += value.length;
      if (size > LARGEST_FORM) return undefined;
      chunks.push(value);
    }
  } finally {
    // cancelling would cut the connection, and the answer with it
    reader.releaseLock();
  }
}

/** The request with its form in hand, or the answer to one that is too large or was broken off. */
export async function withSmallBody(request: Request): Promise<Request | Response> {
  if (request.body === null) return request;
  if (Number(request.headers.get('content-length') ?? 0) > LARGEST_FORM) return refuseLarge();
  try {
    const body = await fewBytes(request.body);
    const { url, method, headers, signal } = request;
    return body === undefined ? refuseLarge() : new Request(url, { method, headers, signal, body });
  } catch (reason) {
    // nobody is there to be told
    if (request.signal.aborted) return new Response(null, { status: 400 });
    throw reason;
  }
}
