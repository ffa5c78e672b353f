/** Asks another service and reads its answer to the end, which is neither long nor late. */
export const TIMEOUT_SECONDS = 15;
const LONGEST_ANSWER = 2 ** 20;

/** What else is asked goes as it is: the libraries that ask describe it in their own ways. */
export async function shortFetch<Init extends Pick<RequestInit, 'signal'>>(url: string, init: Init): Promise<Response> {
  const late = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
  const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
  const { body, status, headers } = await fetch(url, { ...init, signal });
  const pieces: Uint8Array[] = [];
  let length = 0;
  // leaving the loop ends the connection
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > LONGEST_ANSWER) throw new Error(`${new URL(url).host} answered more than ${LONGEST_ANSWER} bytes`);
    pieces.push(piece);
  }
  return new Response(body && Buffer.concat(pieces), { status, headers });
}
