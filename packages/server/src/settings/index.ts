export { maskedSettings, withoutCredentials } from './masking.ts';
export { SettingsError } from './readers.ts';
export { type MailSettings, type OAuthSettings, readSettings, type Settings } from './settings.ts';
export { settingSources } from './sources.ts';
