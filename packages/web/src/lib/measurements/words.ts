/** Features, their units and shares, as plots write them. */
const UNITS: readonly [ending: RegExp, unit: string][] = [
  [/_(um|micrometer|micron)s?_?3$/, 'µm³'],
  [/_(um|micrometer|micron)s?_?2$/, 'µm²'],
  [/_(um|micrometer|micron)s?$/, 'µm'],
  [/_nm$/, 'nm'],
  [/_px$/, 'px'],
  [/_(s|seconds?)$/, 's'],
];

/** `mean_nuclei` is Mean nuclei, `volume_um3` Volume with the unit µm³. The exact name stands in tooltips and files. */
export function featureWords(column: string): { name: string; unit: string | undefined } {
  const found = UNITS.find(([ending]) => ending.test(column));
  const bare = found ? column.replace(found[0], '') : column;
  const words = bare.replaceAll('_', ' ').trim() || column;
  return { name: words[0]!.toUpperCase() + words.slice(1), unit: found?.[1] };
}

/** `Volume, µm³` */
export function axisWords(column: string): string {
  const { name, unit } = featureWords(column);
  return unit === undefined ? name : `${name}, ${unit}`;
}

/** `4.5 %`, `31 %` */
export const shareWords = (share: number): string =>
  `${share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;
