/** Builds an environment anew: whether that is possible, and what is sent. */
import type { TaskGroupAdmin } from '@service/contract';

import type { Pin } from './collect.ts';

/** In the answer of the API a switch is a text. */
export const isResetOn = (settings: Record<string, unknown>): boolean =>
  String(settings['SERVICE_ENABLE_TASK_GROUP_RESET']) === 'true';

export function whyNoReset(group: Pick<TaskGroupAdmin, 'origin' | 'active'>, switchedOn: boolean): string | undefined {
  if (!switchedOn)
    return 'Resetting is switched off here. SERVICE_ENABLE_TASK_GROUP_RESET of the service switches it on.';
  if (group.origin === 'other') return 'This environment was not made by the service, so it cannot be made again.';
  return group.active ? 'It is active. Deactivate it first, then reset it.' : undefined;
}

type Pinned = Pick<TaskGroupAdmin, 'pinned_package_versions_pre' | 'pinned_package_versions_post'>;

export const pinsOfGroup = (group: Pinned): Pin[] =>
  (['pre', 'post'] as const).flatMap((when) =>
    Object.entries(group[`pinned_package_versions_${when}`]).map(([name, version]) => ({ name, version, when })),
  );

interface ResetFields {
  python: string;
  /** Else they stay as they are. */
  changeExtras: boolean;
  extras: string;
  pins: readonly Pin[];
}

const pinsOf = (pins: readonly Pin[], when: Pin['when']): Record<string, string> =>
  Object.fromEntries(pins.filter((pin) => pin.when === when).map(({ name, version }) => [name, version]));

/** Pins that are gone are sent as gone: what is left out would stay. */
export const resetBody = ({ python, changeExtras, extras, pins }: ResetFields) => ({
  ...(python === '' ? {} : { python_version: python as '3.12' }),
  ...(changeExtras ? { pip_extras: extras.trim() } : {}),
  pinned_package_versions_pre: pinsOf(pins, 'pre'),
  pinned_package_versions_post: pinsOf(pins, 'post'),
});
