/** Files of OME-Zarr images through the image data service, in Zarr 2 and 3. */
import { type Array as ZarrArray, type DataType, FetchStore, type Group, isZarritaError, open } from 'zarrita';

import './codecs.ts';
import { ReadProblem } from './problem.ts';

export type OpenGroup = Group<FetchStore>;
export type OpenArray = ZarrArray<DataType, FetchStore>;

/** The data service knows people by their session; one that is open to all may refuse to hear of it. */
let credentials: RequestCredentials = 'include';

async function fetchPart(request: Request): Promise<Response> {
  const response = await fetchWith(request);
  if (response.status === 401) throw new ReadProblem('access', 'Your session has ended. Sign in again.');
  if (response.status === 403)
    throw new ReadProblem('access', 'You can see the list, but not the files. Ask the owner of the project.');
  return response;
}

async function fetchWith(request: Request): Promise<Response> {
  // others may find out while this one is under way
  const tried = credentials;
  try {
    return await fetch(new Request(request, { credentials: tried }));
  } catch (error) {
    if (tried === 'omit' || request.signal.aborted) throw error;
    const response = await fetch(new Request(request, { credentials: 'omit' }));
    credentials = 'omit';
    return response;
  }
}

/** Images of a dataset are mostly of one version: the one that was found last is tried first. */
let version: 2 | 3 = 2;

function openAs(address: string, one: 2 | 3, signal: AbortSignal): Promise<OpenGroup> {
  const store = new FetchStore(address, { fetch: fetchPart });
  const options = { kind: 'group', signal } as const;
  return one === 2 ? open.v2(store, options) : open.v3(store, options);
}

/** Which version images are of, for what belongs to them. */
const versions = new Map<string, 2 | 3>();
const MOST_KNOWN = 500;

async function openKnown(address: string, one: 2 | 3, signal: AbortSignal): Promise<OpenGroup> {
  const group = await openAs(address, one, signal);
  version = one;
  versions.set(address, one);
  if (versions.size > MOST_KNOWN) versions.delete(versions.keys().next().value!);
  return group;
}

/** Fails with an error of zarrita where there is no group. */
export async function openGroup(address: string, signal: AbortSignal): Promise<OpenGroup> {
  // others are opened at the same time, and may be of the other version
  const first = version;
  try {
    return await openKnown(address, first, signal);
  } catch (error) {
    if (!isZarritaError(error)) throw error;
    return openKnown(address, first === 2 ? 3 : 2, signal);
  }
}

/** Of what belongs to an image that was opened before, and so is of its version. */
export const openPart = (image: string, path: string, signal: AbortSignal): Promise<OpenGroup> =>
  openAs(`${image}/${path}`, versions.get(image) ?? version, signal);

/** The store knows by its group which version it is. */
export const openArray = (group: OpenGroup, path: string, signal: AbortSignal): Promise<OpenArray> =>
  open(group.resolve(path), { kind: 'array', attrs: false, signal });
