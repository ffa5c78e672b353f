/**
 * Bodies with long lists become texts for the database: a hundred thousand images are never objects in the thread that
 * answers everybody.
 */

/** The small part of a body, and its long lists as texts that another thread can hand over without a copy. */
export interface Packed<Rest = unknown> {
  rest: Rest;
  texts: Uint8Array[];
}

export type Pack<Body = never, Rest = unknown> = (body: Body) => Packed<Rest>;

/** By the id of the operation. */
export type Packs = Record<string, Pack>;
