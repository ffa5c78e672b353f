/**
 * A real SMTP server on the loopback that keeps what it gets.
 *
 *     const smtp = await startSmtp({ certificate: selfSignedCertificate(), login: { user: 'a@b.org', password: 'x' } });
 *     const service = await startService({ settings: smtp.settings });
 *     await expect.poll(() => smtp.mails).toHaveLength(1);
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterAll } from 'vitest';

export const SENDER = 'service@example.org';
export const PASSWORD = 'a mail password';
export const RECIPIENTS = ['one@example.org', 'two@example.org'];

export interface Mail {
  /** Of the envelope. */
  from: string;
  to: string[];
  /** Whether it came through an encrypted connection, and from whom. */
  secure: boolean;
  user: string | undefined;
  headers: Record<string, string>;
  text: string;
}

export interface Certificate {
  key: string;
  cert: string;
}

export interface SmtpOptions {
  /** With one, the server offers STARTTLS, and takes passwords only after it. */
  certificate?: Certificate;
  /** With one, the server takes mail only after a login. */
  login?: { user: string; password: string };
  /** Addresses that do not exist here. */
  unknown?: string[];
}

export interface Smtp {
  port: number;
  mails: Mail[];
  /** Names that tried to log in. */
  logins: string[];
  /** Mail settings for this server, by the names of their variables; without STARTTLS and login. */
  settings: Record<string, string>;
}

/** A certificate for 127.0.0.1 that nobody has signed but itself. */
export function selfSignedCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-smtp-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const fromQuotedPrintable = (written: string) =>
  Buffer.from(
    written.replace(/=\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString();

const DECODERS: Record<string, (written: string) => string> = {
  '7bit': (written) => written,
  'quoted-printable': fromQuotedPrintable,
  base64: (written) => Buffer.from(written, 'base64').toString(),
};

/** `=?UTF-8?Q?Z=C3=BCrich?=` → `Zürich` */
const decodedHeader = (written: string) =>
  written
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?(Q|B)\?([^?]*)\?=/gi, (_, kind: string, words: string) =>
      kind.toUpperCase() === 'Q' ? fromQuotedPrintable(words.replaceAll('_', ' ')) : DECODERS['base64']!(words),
    );

/** Reads the simple messages that are sent here: some headers, one part of text. */
function readMessage(source: string): Pick<Mail, 'headers' | 'text'> {
  const lines = source.replaceAll('\r\n', '\n');
  const end = lines.indexOf('\n\n');
  const unfolded = lines.slice(0, end).replace(/\n[ \t]+/g, ' ');
  const headers = Object.fromEntries(
    unfolded.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), decodedHeader(line.slice(colon + 1).trim())];
    }),
  );
  const decode = DECODERS[headers['content-transfer-encoding'] ?? '7bit'];
  if (!decode) throw new Error(`Unknown encoding ${headers['content-transfer-encoding']}`);
  return { headers, text: decode(lines.slice(end + 2)) };
}

export async function startSmtp({ certificate, login, unknown = [] }: SmtpOptions = {}): Promise<Smtp> {
  const mails: Mail[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    ...certificate,
    disabledCommands: certificate ? [] : ['STARTTLS'],
    authOptional: login === undefined,
    allowInsecureAuth: certificate === undefined,
    onAuth({ username = '', password }, _, done) {
      logins.push(username);
      if (username === login?.user && password === login.password) done(null, { user: username });
      else done(new Error('Authentication failed'));
    },
    onRcptTo({ address }, _, done) {
      done(unknown.includes(address) ? new Error(`There is no ${address} here`) : null);
    },
    onData(stream, { envelope, secure, user }, done) {
      void text(stream).then((source) => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ from, to, secure, user: user as string | undefined, ...readMessage(source) });
        done();
      });
    },
  });
  // A client that gives up, as for a certificate it does not trust, is no matter of the server.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    mails,
    logins,
    settings: {
      SERVICE_EMAIL_SENDER: SENDER,
      SERVICE_EMAIL_SMTP_SERVER: '127.0.0.1',
      SERVICE_EMAIL_SMTP_PORT: String(port),
      SERVICE_EMAIL_INSTANCE_NAME: 'Zürich',
      SERVICE_EMAIL_RECIPIENTS: RECIPIENTS.join(' , '),
      SERVICE_EMAIL_USE_STARTTLS: 'false',
      SERVICE_EMAIL_USE_LOGIN: 'false',
    },
  };
}
