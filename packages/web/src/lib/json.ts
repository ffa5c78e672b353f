/**
 * JSON as it was written: `1.0` stays `1.0`, integers above 2^53 keep their digits, and a syntax error has a line and a
 * column in every browser.
 *
 *   writeJson(parseJson('{"size": 1.0}')) // {"size":1.0}
 *
 * Only numbers that a plain parse would change become a `NumberAsWritten`; all others stay plain numbers.
 */

export class NumberAsWritten {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  get value(): number {
    return Number(this.source);
  }

  toJSON(): unknown {
    const raw = JSON as unknown as { rawJSON?: (text: string) => unknown };
    return raw.rawJSON?.(this.source) ?? this.value;
  }
}

export type JsonObject = Record<string, unknown>;

/** What an object has under a name, where names are people's own: every object knows a `constructor`. */
export const ownOf = <T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberAsWritten);

const isNumber = (value: unknown): value is number | NumberAsWritten =>
  typeof value === 'number' || value instanceof NumberAsWritten;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WHOLE_NUMBER = new RegExp(`^${NUMBER.source}$`);

function numberOf(source: string): number | NumberAsWritten {
  const value = Number(source);
  return String(value) === source ? value : new NumberAsWritten(source);
}

/** The number a person typed, or undefined when the whole text is not one JSON number. */
export function typedNumber(text: string): number | NumberAsWritten | undefined {
  const trimmed = text.trim();
  return WHOLE_NUMBER.test(trimmed) && Number.isFinite(Number(trimmed)) ? numberOf(trimmed) : undefined;
}

export class JsonSyntaxError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(text: string, position: number, expected: string) {
    const before = text.slice(0, position).split('\n');
    const line = before.length;
    const column = before.at(-1)!.length + 1;
    super(`Line ${line}, column ${column}: ${expected}.`);
    this.line = line;
    this.column = column;
  }
}

/** Like JSON.parse, but numbers come back the way they were written. Throws a JsonSyntaxError. */
export function parseJson(text: string): unknown {
  let position = 0;

  const fail = (expected: string, at = position): never => {
    throw new JsonSyntaxError(text, at, at < text.length ? expected : `the text ends here; ${expected}`);
  };
  const skipSpace = () => {
    while (' \n\r\t'.includes(text[position] ?? '.')) position++;
  };
  const take = (sign: string) => {
    skipSpace();
    if (text[position] !== sign) return false;
    position++;
    return true;
  };

  function readString(): string {
    const start = position++;
    for (; text[position] !== '"'; position++) {
      if (position >= text.length) fail('close the text with a quotation mark');
      if (text[position]! < ' ') fail('write a line break inside a text as \\n');
      if (text[position] === '\\') position++;
    }
    position++;
    try {
      return JSON.parse(text.slice(start, position)) as string;
    } catch {
      return fail('after a backslash only " \\ / b f n r t or u with four digits is possible', start);
    }
  }

  function readObject(): JsonObject {
    const entries: [string, unknown][] = [];
    position++;
    if (take('}')) return {};
    for (;;) {
      skipSpace();
      if (text[position] !== '"') fail('expected a name in quotation marks');
      const key = readString();
      if (!take(':')) fail('expected a colon');
      entries.push([key, readValue()]);
      if (take('}')) return Object.fromEntries(entries);
      if (!take(',')) fail('expected a comma or }');
    }
  }

  function readArray(): unknown[] {
    const items: unknown[] = [];
    position++;
    if (take(']')) return items;
    for (;;) {
      items.push(readValue());
      if (take(']')) return items;
      if (!take(',')) fail('expected a comma or ]');
    }
  }

  function readWord(): unknown {
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (!text.startsWith(word, position)) continue;
      position += word.length;
      return value;
    }
    NUMBER.lastIndex = position;
    const source = NUMBER.exec(text)?.[0] ?? fail('expected a value');
    position += source.length;
    return numberOf(source);
  }

  function readValue(): unknown {
    skipSpace();
    if (text[position] === '{') return readObject();
    if (text[position] === '[') return readArray();
    return text[position] === '"' ? readString() : readWord();
  }

  const value = readValue();
  skipSpace();
  if (position < text.length) fail('expected the end of the text');
  return value;
}

/** Like JSON.stringify, with numbers as they were written. */
export function writeJson(value: unknown, indent = 0, margin = ''): string {
  if (value instanceof NumberAsWritten) return value.source;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = margin + ' '.repeat(indent);
  const parts = Array.isArray(value)
    ? value.map((item) => writeJson(item, indent, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${writeJson(item, indent, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  return indent === 0
    ? `${open}${parts.join(',')}${close}`
    : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
}

/** The same value with plain numbers, for who calculates with them. */
export function plainJson(value: unknown): unknown {
  if (value instanceof NumberAsWritten) return value.value;
  if (Array.isArray(value)) return value.map(plainJson);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainJson(item)]));
  return value;
}

/** Equal as written; the order of keys does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isNumber(a) || isNumber(b)) return isNumber(a) && isNumber(b) && writeJson(a) === writeJson(b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/** The path of a child: JSON pointers, the root is the empty text. */
export const under = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

export const keysOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
