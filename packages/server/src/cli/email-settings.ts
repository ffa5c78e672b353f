/** `servicectl email-settings`: is mail set up, and does it work? */
import { createMailer } from '../mail/index.ts';
import { maskedSettings } from '../settings/index.ts';
import { loadSettings, loggingFor } from '../workplace.ts';
import { CommandFailed } from './tools.ts';

export async function emailSettings({ sendTest }: { sendTest?: true }): Promise<void> {
  const settings = loadSettings();
  if (!settings.mail) {
    console.log('Mail is off: the SERVICE_EMAIL_… settings are not set (see docs/settings.md).');
    if (sendTest) throw new CommandFailed('No test message was sent.');
    return;
  }
  const { public: shown } = maskedSettings(settings).email;
  for (const [name, value] of Object.entries(shown!)) console.log(`${name}: ${[value].flat().join(', ')}`);
  if (!sendTest) return;
  const sent = await createMailer(settings.mail, loggingFor(settings).logger('mail'))('Test message', 'Mail works.\n');
  if (!sent) throw new CommandFailed('The test message could not be sent.');
  console.log('The test message was sent.');
}
