/** Sends mail to the administrators. A failure is logged and never stops what caused the mail. */
import { createTransport } from 'nodemailer';

import type { Logger } from '../logging/index.ts';
import type { MailSettings } from '../settings/index.ts';

const TIMEOUT_MS = 10_000;

export type Mailer = (subject: string, text: string) => Promise<boolean>;

async function send(mail: MailSettings, subject: string, text: string): Promise<void> {
  const transport = createTransport({
    host: mail.smtp_server,
    port: mail.port,
    secure: false,
    requireTLS: mail.use_starttls,
    ignoreTLS: !mail.use_starttls,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    ...(mail.use_login ? { auth: { user: mail.sender, pass: mail.password ?? '' } } : {}),
  });
  await transport.sendMail({
    from: mail.sender,
    to: mail.recipients,
    envelope: { from: mail.sender, to: mail.recipients },
    subject: `[Service, ${mail.instance_name}] ${subject}`,
    text,
  });
}

/** True when the mail went out; without mail settings it is only logged. */
export function createMailer(mail: MailSettings | null, log: Logger): Mailer {
  return async (subject, text) => {
    if (!mail) {
      log.info(`No mail is sent, because mail is not set up. Subject: ${subject}`);
      return false;
    }
    try {
      await send(mail, subject, text);
      return true;
    } catch (error) {
      log.error(`The mail "${subject}" could not be sent to ${mail.smtp_server}:${mail.port}`, error);
      return false;
    }
  };
}
