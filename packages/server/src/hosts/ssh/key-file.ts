/** The private key that the service logs in with. */
import { readFile } from 'node:fs/promises';

import ssh2 from 'ssh2';

import { HostAway } from '../host.ts';

const refuse = (words: string, cause?: unknown) => new HostAway(words, { cause, needsPerson: true });

/** The content of a key file that can be used as it is. Read for each connection: keys are replaced now and then. */
export async function readKeyFile(path: string): Promise<Buffer> {
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw refuse(`There is no key file ${path}. Check the SSH key path of the profile.`);
    throw refuse(`The key file ${path} cannot be read by the account of the service: ${error.message}`, error);
  });
  const parsed = ssh2.utils.parseKey(content);
  if (parsed instanceof Error) {
    if (/passphrase/i.test(parsed.message)) {
      throw refuse(
        `The key file ${path} is locked with a passphrase, which nobody is there to type. ` +
          `Remove it with "ssh-keygen -p -f ${path}", or use a key without one.`,
      );
    }
    throw refuse(`${path} is not a private key in a form that can be read (${parsed.message}).`, parsed);
  }
  if (!parsed.isPrivateKey()) {
    throw refuse(`${path} holds a public key. Give the file of the private one, usually the same name without ".pub".`);
  }
  return content;
}
