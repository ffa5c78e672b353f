/** The version of the API for the foot of every page: asked once in a while, and never waited for twice. */
import { apiVersion } from './api.ts';

const KEPT_MS = 300_000;
let known: string | undefined;
let askedAt = -Infinity;
let asking: Promise<void> | undefined;

async function ask(): Promise<void> {
  known = (await apiVersion()) ?? known;
  askedAt = Date.now();
  asking = undefined;
}

export async function knownApiVersion(): Promise<string | undefined> {
  if (Date.now() - askedAt > KEPT_MS) asking ??= ask();
  if (known === undefined) await asking;
  return known;
}
