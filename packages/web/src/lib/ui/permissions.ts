/** What people may do in a project, in words. */
import type { Permissions } from '@service/contract';

const WORDS: Record<Permissions, string> = { r: 'Read', rw: 'Read, edit', rwx: 'Read, edit, run' };

export const permissionWords = (permissions: Permissions): string => WORDS[permissions];

const SENTENCES: Record<Permissions, string> = {
  r: 'read it',
  rw: 'read and edit it',
  rwx: 'read it, edit it and run jobs',
};

/** `read it, edit it and run jobs`, after "You could". */
export const permissionSentence = (permissions: Permissions): string => SENTENCES[permissions];
