/** The browser of the tests: the system's Chromium without its windows, which takes a quarter less of the machine. */
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

export const LAUNCH: LaunchOptions & { args: string[] } = {
  executablePath: '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox'],
};

export const launchBrowser = (...args: string[]): Promise<Browser> =>
  chromium.launch({ ...LAUNCH, args: [...LAUNCH.args, ...args] });
