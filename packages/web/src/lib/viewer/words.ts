/** What a picture shows, for those who do not see it. */
import { formatCount, listed } from '../format.ts';
import type { Facts } from '../pixels/facts.ts';
import type { ChannelSetting, LabelSetting } from '../pixels/settings.ts';

interface Told {
  /** `demo, A01` */
  name: string;
  facts: Facts | undefined;
  settings: readonly ChannelSetting[];
  labels: LabelSetting;
  z: number | 'max';
  t: number;
}

export function pictureWords({ name, facts, settings, labels, z, t }: Told): string {
  if (!facts) return `Picture of ${name}`;
  const shown = settings.flatMap(({ shown: is, limits }, at) => {
    const range = limits ? ` from ${formatCount(Math.round(limits[0]))} to ${formatCount(Math.round(limits[1]))}` : '';
    return is ? [`${facts.channels[at]?.name ?? ''}${range}`] : [];
  });
  const parts = [
    `Picture of ${name}`,
    shown.length === 0 ? 'no channel shown' : listed(shown),
    ...(facts.planes > 1 ? [z === 'max' ? 'brightest plane' : `plane ${z + 1} of ${facts.planes}`] : []),
    ...(facts.times > 1 ? [`time ${t + 1} of ${facts.times}`] : []),
    ...(labels.shown && labels.name !== undefined
      ? [`labels ${labels.name}${labels.by === undefined ? '' : ` coloured by ${labels.by}`}`]
      : []),
  ];
  return `${parts.join('. ')}.`;
}
