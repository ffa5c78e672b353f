/** What the wells of a plate are coloured by, and the words that go with it. */
import { counted, formatCount, formatNumber } from '../../format.ts';
import type { State } from '../../ui/status.ts';
import type { Plate, Well } from './plate.ts';
import { type Colour, colourOf, type Scale, scaleOf, type WellValue, wellValue } from './values.ts';

/** Undefined: by the status of the chosen task. */
export type By = { attribute: string } | undefined;

export const readBy = (text: string | null): By => (text ? { attribute: text } : undefined);

export interface Colouring {
  scale: Scale | undefined;
  look: (well: Well) => State['look'] | Colour | 'mixed' | 'plain' | undefined;
  words: (well: Well) => string;
}

export const LOOK_WORDS: Record<State['look'], string> = {
  failed: 'failed',
  stopped: 'stopped',
  running: 'running',
  waiting: 'waiting',
  warning: 'done with warnings',
  done: 'done',
  unset: 'not run',
};

const MOST_NAMED = 4;

/** `7.5`, `mean 7.5 of 2 values`, `mixed (few, many)`. */
function valueOfWell(found: WellValue | undefined): string {
  if (found === undefined) return 'no value';
  const { value, several } = found;
  if (typeof value === 'number') {
    return several.length > 0 ? `mean ${formatNumber(value)} of ${several.length} values` : formatNumber(value);
  }
  if (value !== undefined) return value;
  const more = several.length - MOST_NAMED;
  return `mixed (${several.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''})`;
}

/** `failed`, or `2 failed` where others did not. */
function lookWords({ look, failed, images }: Well): string[] {
  if (look === undefined) return [];
  return [look === 'failed' && failed < images ? `${formatCount(failed)} failed` : LOOK_WORDS[look]];
}

/** `ofAllPlates`: the values of the attribute on every plate, for colours that mean the same on each. */
export function colouring({ wells }: Plate, by: By, ofAllPlates?: readonly unknown[]): Colouring {
  const images = (well: Well) => counted(well.images, 'image');
  if (!by) {
    return {
      scale: undefined,
      look: ({ look }) => look ?? 'plain',
      words: (well) => [...lookWords(well), images(well)].join(', '),
    };
  }
  const values = new Map([...wells].map(([name, well]) => [name, wellValue(well, by.attribute)]));
  const scale = scaleOf(wells.values(), by.attribute, ofAllPlates);
  return {
    scale,
    look: ({ name }) => colourOf(scale, values.get(name)),
    words: (well) => `${by.attribute} ${valueOfWell(values.get(well.name))}, ${images(well)}`,
  };
}

/** Parts of the legend for statuses, the loudest first. */
export const LEGEND: State['look'][] = ['failed', 'stopped', 'running', 'waiting', 'warning', 'done', 'unset'];
