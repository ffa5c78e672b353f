/** A service that has much to draw asks to come again. */
const BUSY = 503;
const PAUSE_MS = 1500;

interface Patience {
  attempts: number;
  signal?: AbortSignal | undefined;
}

/** The first answer that is not "busy", or the last one. Without imports: workers ask, too. */
export async function whileBusy(ask: () => Promise<Response>, { attempts, signal }: Patience): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await ask();
    if (response.status !== BUSY || attempt === attempts) return response;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    signal?.throwIfAborted();
  }
}
