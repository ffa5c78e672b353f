/** Reads forms, urlencoded or multipart, as existing clients send them. A field given twice counts once: the last time. */
import type { FastifyRequest } from 'fastify';

import type { UploadedFile } from '@service/contract';

import { guarded } from '../../guard.ts';
import { invalid, refuse, Refusal } from '../refusal.ts';
import { type NamelessFile, openNamelessFile } from './nameless-file.ts';
import { BROKEN, type Rules, takeSlot, TOO_SLOW } from './receive.ts';

type Form = Record<string, string | UploadedFile>;

/** The fields of a form together; a file is counted by itself. */
export const LARGEST_FIELDS = 256 * 1024;
const MOST_FIELDS = 100;

/** For the parser of multipart bodies, which holds one field at a time. */
const MULTIPART_LIMITS = {
  fields: MOST_FIELDS,
  fieldSize: LARGEST_FIELDS,
  files: 1,
  parts: MOST_FIELDS + 2,
  headerPairs: 20,
};

const tooLarge = () => refuse(413, 'This form is too large. Send fewer or shorter fields.', { connection: 'close' });

/** An empty field counts as absent. */
const withoutEmpty = (form: Form): Form => Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));

export function parseUrlencoded(bytes: Buffer): Form {
  const text = bytes.toString('utf8');
  if (text.split('&', MOST_FIELDS + 2).length > MOST_FIELDS + 1) throw tooLarge();
  return withoutEmpty(Object.fromEntries(new URLSearchParams(text)));
}

type FilePart = Extract<Awaited<ReturnType<FastifyRequest['file']>>, object>;

/** The largest counts everything together, boundaries included. */
export interface FormRules extends Pick<Rules, 'largest' | 'tooLarge' | 'slots' | 'withinMs'> {
  /** Where files go; undefined where the operation takes none. */
  folder: string | undefined;
}

export interface ReceivedForm {
  form: Form;
  /** They are there until they are closed; who needs one longer has copied it. */
  files: NamelessFile[];
}

/** Uploads go to disk as they come, whatever their size. */
async function keep(part: FilePart, folder: string, files: NamelessFile[]): Promise<UploadedFile> {
  const { handle, path } = await openNamelessFile(folder).catch((error: unknown) => {
    part.file.resume();
    throw error;
  });
  files.push({ handle, path });
  await handle.writeFile(part.file);
  if (part.file.truncated) throw tooLargeFile();
  return { filename: part.filename ?? '', path, bytes: (await handle.stat()).size };
}

const tooLargeFile = () =>
  refuse(413, 'This file is larger than the settings allow. Ask an administrator for a larger limit.', {
    connection: 'close',
  });

/** Rejects when more arrives than is allowed, or too late; the form may be waiting for the end of a file then. */
function bound(request: FastifyRequest, rules: FormRules): { over: Promise<never>; stop(): void } {
  const { raw } = request;
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => undefined);
  let bytes = 0;
  const readNoMore = () => {
    raw.off('data', guardedCount).unpipe();
    raw.pause();
  };
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= rules.largest) return;
    readNoMore();
    // the parts that came before say more than the size does: what they are refused for comes first
    setImmediate(reject, rules.folder === undefined ? tooLarge() : tooLargeFile());
  };
  const guardedCount = guarded(count, reject);
  raw.on('data', guardedCount);
  const late = () => {
    readNoMore();
    reject(TOO_SLOW());
  };
  const deadline = rules.withinMs === undefined ? undefined : setTimeout(guarded(late, reject), rules.withinMs);
  const stop = () => {
    clearTimeout(deadline);
    raw.off('data', guardedCount);
  };
  return { over, stop };
}

async function readParts(request: FastifyRequest, rules: FormRules, { form, files }: ReceivedForm): Promise<void> {
  let room = LARGEST_FIELDS;
  for await (const part of request.parts({ limits: { ...MULTIPART_LIMITS, fileSize: rules.largest } })) {
    if (part.type === 'field') {
      const value = String(part.value);
      room -= Buffer.byteLength(value);
      if (room < 0 || part.valueTruncated) throw tooLarge();
      form[part.fieldname] = value;
    } else if (rules.folder !== undefined) form[part.fieldname] = await keep(part, rules.folder, files);
    else {
      part.file.resume();
      throw invalid([
        { type: 'value_error', loc: ['body', part.fieldname], msg: 'Value error, This form takes no files.' },
      ]);
    }
  }
}

function asRefusal(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  if (statusCode === 413) return tooLarge();
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EACCES') return error;
  return refuse(400, 'The form cannot be read. Send it as multipart/form-data with its boundary, or urlencoded.');
}

/** Who gets the form closes its files. When it is refused, they are closed here. */
export async function parseMultipart(request: FastifyRequest, rules: FormRules): Promise<ReceivedForm> {
  if (Number(request.headers['content-length'] ?? 0) > rules.largest)
    throw rules.folder === undefined ? tooLarge() : tooLargeFile();
  // who has left already is not noticed by the parser
  if (request.raw.destroyed) throw BROKEN();
  const leave = takeSlot(request.raw, rules);
  const received: ReceivedForm = { form: {}, files: [] };
  const bounds = bound(request, rules);
  const reading = readParts(request, rules, received);
  try {
    await Promise.race([reading, bounds.over]);
    return { ...received, form: withoutEmpty(received.form) };
  } catch (error) {
    // a file that is still being written is closed when that is over, which the end of the connection brings about
    void reading
      .catch(() => undefined)
      .then(() => closeFiles(received.files))
      .catch(() => undefined);
    throw asRefusal(error);
  } finally {
    bounds.stop();
    leave();
  }
}

export async function closeFiles(files: NamelessFile[]): Promise<void> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}
