/**
 * Bodies with long lists become texts for the database: a hundred thousand images are never objects in the thread that
 * answers everybody.
 */

/** The small part of a body, and its long lists as texts that another thread can hand over without a copy. */
export interface Packed<Rest = unknown, More = Iterable<Uint8Array> | AsyncIterable<Uint8Array>> {
  rest: Rest;
  texts: Uint8Array[];
  /** Texts that are made while the first of them are used. They fail together with the thread that makes them. */
  more: More;
}

export type Pack<Body = never, Rest = unknown> = (body: Body) => Packed<Rest, Iterable<Uint8Array>>;

/** By the id of the operation. */
export type Packs = Record<string, Pack>;
