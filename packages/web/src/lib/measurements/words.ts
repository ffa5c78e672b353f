/** Numbers, features and their units, as plots write them. */
import { formatCount } from '../format.ts';

const MINUS = '\u2212';
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

const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function withPower(value: number): string {
  const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  const part = Number((value / 10 ** power).toPrecision(3));
  const digits = [...String(Math.abs(power))].map((digit) => SUPERSCRIPT[Number(digit)]).join('');
  return `${part === 1 ? '' : `${part}·`}10${power < 0 ? '⁻' : ''}${digits}`;
}

/** At most so many digits: `1 212.5`, `0.325`, `2·10⁷`. */
export function numberWords(value: number, digits = 5): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'none' : value > 0 ? '∞' : `${MINUS}∞`;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return withPower(value).replace('-', MINUS);
  const [whole, rest] = String(Number(size.toPrecision(digits))).split('.') as [string, string | undefined];
  return `${value < 0 ? MINUS : ''}${formatCount(Number(whole))}${rest === undefined ? '' : `.${rest}`}`;
}

/** `4.5 %`, `31 %` */
export const shareWords = (share: number): string =>
  `${share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;
