import { type AddressInfo, createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createMailer } from '../../src/mail/index.ts';
import { readSettings } from '../../src/settings/index.ts';
import { type Oidc, signIn, startOidc } from '../support/oidc.ts';
import { type LogEntry, startService } from '../support/server.ts';
import { PASSWORD, RECIPIENTS, selfSignedCertificate, SENDER, type Smtp, startSmtp } from '../support/smtp.ts';

const LOGIN = { SERVICE_EMAIL_USE_LOGIN: 'true', SERVICE_EMAIL_PASSWORD: PASSWORD };
const STARTTLS = { SERVICE_EMAIL_USE_STARTTLS: 'true' };

/** A mailer with these settings, and what it logs. */
function mailerWith(settings: Record<string, string>) {
  const given: Record<string, string> = { POSTGRES_DB: 'given', JWT_SECRET_KEY: 'a key for tests', ...settings };
  const log: LogEntry[] = [];
  const keep = (level: string) => (message: string, error?: unknown) =>
    void log.push({ name: '', level, message, error });
  const logger = {
    enabled: () => true,
    debug: keep('debug'),
    info: keep('info'),
    warning: keep('warning'),
    error: keep('error'),
  };
  return { mailer: createMailer(readSettings((name) => given[name]).mail, logger), log };
}

const trusted = selfSignedCertificate();
const untrusted = selfSignedCertificate();
const usual = getCACertificates('default');
const login = { user: SENDER, password: PASSWORD };
let plain: Smtp;
let withLogin: Smtp;
let withBoth: Smtp;
let notTrusted: Smtp;
beforeAll(async () => {
  // What an operator does with the system's certificates; only this process trusts the one of the test.
  setDefaultCACertificates([...usual, trusted.cert]);
  plain = await startSmtp();
  withLogin = await startSmtp({ login });
  withBoth = await startSmtp({ login, certificate: trusted });
  notTrusted = await startSmtp({ login, certificate: untrusted });
});
afterAll(() => setDefaultCACertificates(usual));

describe('mail', () => {
  const TEXT = 'A first line.\nA long line: ' + 'word '.repeat(40) + '\n.\nÄ line with a letter beyond ASCII.\n';

  it.each<[string, () => Smtp, Record<string, string>, { secure: boolean; user: string | undefined }]>([
    ['without STARTTLS and login', () => plain, {}, { secure: false, user: undefined }],
    ['with login alone', () => withLogin, LOGIN, { secure: false, user: SENDER }],
    ['with STARTTLS and login', () => withBoth, { ...STARTTLS, ...LOGIN }, { secure: true, user: SENDER }],
  ])('reaches every recipient: %s', async (_, server, settings, way) => {
    const smtp = server();
    const { mailer, log } = mailerWith({ ...smtp.settings, ...settings });
    expect(await mailer('Something happened', TEXT)).toBe(true);
    const mail = smtp.mails.at(-1)!;
    expect(mail).toMatchObject({ from: SENDER, to: RECIPIENTS, ...way });
    expect(mail.headers).toMatchObject({
      from: SENDER,
      to: RECIPIENTS.join(', '),
      subject: '[Service, Zürich] Something happened',
    });
    expect(mail.headers['content-type']).toMatch(/^text\/plain; charset=utf-8/);
    expect(mail.text.trimEnd()).toBe(TEXT.trimEnd());
    expect(log).toEqual([]);
  });

  it('uses neither STARTTLS nor login that is offered, unless it is set', async () => {
    const offering = await startSmtp({ certificate: trusted });
    const { mailer } = mailerWith(offering.settings);
    expect(await mailer('Subject', 'Text')).toBe(true);
    expect(offering.mails).toMatchObject([{ secure: false, user: undefined }]);
    expect(offering.logins).toEqual([]);
  });

  it('keeps a subject on one line', async () => {
    const { mailer } = mailerWith(plain.settings);
    expect(await mailer('One\r\nBcc: somebody@example.org', 'Text')).toBe(true);
    const mail = plain.mails.at(-1)!;
    expect([mail.to, mail.headers['bcc']]).toEqual([RECIPIENTS, undefined]);
  });

  it('reaches the others when one recipient is not known', async () => {
    const smtp = await startSmtp({ unknown: RECIPIENTS.slice(0, 1) });
    const { mailer } = mailerWith(smtp.settings);
    expect(await mailer('Subject', 'Text')).toBe(true);
    expect(smtp.mails.map(({ to }) => to)).toEqual([RECIPIENTS.slice(1)]);
  });

  it.each<[string, () => Promise<Smtp> | Smtp, Record<string, string>]>([
    ['a wrong password', () => withLogin, { ...LOGIN, SERVICE_EMAIL_PASSWORD: 'not the password' }],
    ['no login where one is needed', () => withLogin, {}],
    ['a certificate that nobody trusts', () => notTrusted, { ...STARTTLS, ...LOGIN }],
    ['no STARTTLS where it is set', () => withLogin, { ...STARTTLS, ...LOGIN }],
    ['no recipient that is known', () => startSmtp({ unknown: RECIPIENTS }), {}],
    ['no server', () => plain, { SERVICE_EMAIL_SMTP_PORT: '1' }],
  ])('that cannot be sent is logged, and raises nothing: %s', async (_, server, settings) => {
    const smtp = await server();
    const [sent, tried] = [smtp.mails.length, smtp.logins.length];
    const { mailer, log } = mailerWith({ ...smtp.settings, ...settings });
    expect(await mailer('Something happened', TEXT)).toBe(false);
    expect(smtp.mails).toHaveLength(sent);
    expect(log).toEqual([
      {
        name: '',
        level: 'error',
        message: expect.stringMatching(/"Something happened" could not be sent to 127\.0\.0\.1:\d+$/),
        error: expect.any(Error),
      },
    ]);
    const { message, stack } = log[0]!.error as Error;
    expect(message + stack + JSON.stringify(log[0]!.error)).not.toContain(settings['SERVICE_EMAIL_PASSWORD'] ?? '\0');
    // A password never travels before the encryption that was asked for.
    if ('SERVICE_EMAIL_USE_STARTTLS' in settings) expect(smtp.logins).toHaveLength(tried);
  });

  it('that is not set up is logged', async () => {
    const { mailer, log } = mailerWith({ SERVICE_EMAIL_PASSWORD: PASSWORD });
    expect(await mailer('Something happened', TEXT)).toBe(false);
    expect(log).toEqual([
      { name: '', level: 'info', message: expect.stringContaining('Something happened'), error: undefined },
    ]);
  });
});

describe('an unknown person who signs in with an external account', () => {
  let oidc: Oidc;
  beforeAll(async () => {
    oidc = await startOidc();
    oidc.people.set('stranger', { email: 'stranger@example.org' });
  });

  it('gets the same answer whether mail works, fails or is off', async () => {
    const mailSettings: [settings: Record<string, string>, logged: string | undefined][] = [
      [{ ...withBoth.settings, ...STARTTLS, ...LOGIN }, undefined],
      [{ ...notTrusted.settings, ...STARTTLS, ...LOGIN }, 'could not be sent'],
      [{}, 'mail is not set up'],
    ];
    const details: unknown[] = [];
    const sent = withBoth.mails.length;
    for (const [settings, logged] of mailSettings) {
      const service = await startService({ settings: { ...oidc.settings, ...settings } });
      const { status, body } = await signIn(service, oidc, 'stranger');
      expect(status).toBe(400);
      details.push(body);
      const entries = () => service.log.filter(({ name }) => name === 'mail').map(({ message }) => message);
      if (logged !== undefined) await expect.poll(entries).toEqual([expect.stringContaining(logged)]);
      else await expect.poll(() => withBoth.mails.length).toBe(sent + 1);
    }
    expect(details[0]).toEqual({ detail: expect.stringContaining('stranger@example.org') });
    expect(details).toEqual([details[0], details[0], details[0]]);
    expect(withBoth.mails.at(-1)).toMatchObject({ from: SENDER, to: RECIPIENTS, secure: true, user: SENDER });
    expect(notTrusted.mails).toEqual([]);
  });

  it('does not wait for a mail server that says nothing', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const service = await startService({
      settings: { ...oidc.settings, ...plain.settings, SERVICE_EMAIL_SMTP_PORT: String(port) },
    });
    expect((await signIn(service, oidc, 'stranger')).status).toBe(400);
    await expect.poll(() => sockets.length).toBe(1);
    expect(service.log.filter(({ name }) => name === 'mail')).toEqual([]);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => service.log.filter(({ name }) => name === 'mail')).toHaveLength(1);
    await new Promise((resolve) => silent.close(resolve));
  });
});
