/** The reference of the API: `servicectl openapi` as Markdown, a page for each tag. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SERVICECTL = join(import.meta.dirname, '../../packages/server/bin/servicectl.cjs');

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  description?: string;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}
type Content = Record<string, { schema?: Schema }>;
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}
interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface TagPage {
  tag: string;
  /** In the address. */
  name: string;
  count: number;
  content: string;
}

/** Without the settings of whoever builds: the manual is the same for all. */
function describe(): Document {
  const folder = mkdtempSync(join(tmpdir(), 'service-manual-'));
  const { PATH = '', HOME = '' } = process.env;
  try {
    const file = join(folder, 'openapi.json');
    const environment = { PATH, HOME, SERVICE_DATA_DIR: folder };
    execFileSync(process.execPath, [SERVICECTL, 'openapi', '-f', file], { cwd: folder, env: environment });
    return JSON.parse(readFileSync(file, 'utf8')) as Document;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const nameOf = (tag: string) => tag.replaceAll(' ', '-');

/** In a cell of a table; nothing in it is a tag or a value of Vue. */
const cell = (text: string) =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll('{', '&#123;')
    .replace(/\s*\n\s*/g, ' ');

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)!;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return [...new Set(variants.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  return [schema.type ?? 'any'].flat().join(' or ') + (schema.format ? ` (${schema.format})` : '');
}

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n') + '\n\n';
}

const need = (isRequired: boolean | undefined) => (isRequired ? 'required' : '');

/** The fields of what a body refers to; deeper ones have the name of their schema. */
function fields(schema: Schema, schemas: Document['components']['schemas']): string {
  const referred = schema.$ref ?? schema.items?.$ref;
  const { properties = {}, required = [] } = referred ? (schemas[referred.split('/').at(-1)!] ?? {}) : schema;
  const rows = Object.entries(properties).map(([name, field]) => [
    `\`${name}\``,
    cell(typeOf(field)),
    need(required.includes(name)),
    cell(field.description ?? ''),
  ]);
  return table(['Field', 'Type', '', ''], rows);
}

function body(title: string, content: Content | undefined, schemas: Document['components']['schemas']): string {
  return Object.entries(content ?? {})
    .map(
      ([type, { schema = {} }]) => `**${title}** ${cell(typeOf(schema))} (\`${type}\`)\n\n${fields(schema, schemas)}`,
    )
    .join('');
}

const isGood = (code: string) => code.startsWith('2') || code.startsWith('3');

function describeOperation(
  path: string,
  method: string,
  operation: Operation,
  schemas: Document['components']['schemas'],
) {
  const parameters = (operation.parameters ?? []).map(({ name, in: place, required, schema }) => [
    `\`${name}\``,
    cell(typeOf(schema)),
    need(required),
    `in the ${place}`,
  ]);
  const answers = Object.entries(operation.responses);
  const refusals = answers.filter(([code]) => !isGood(code)).map(([code]) => code);
  return [
    `## ${cell(operation.summary)} {#${operation.operationId.replaceAll('_', '-')}}\n\n`,
    `\`\`\`http\n${method.toUpperCase()} ${path}\n\`\`\`\n\n`,
    operation.description ? `${cell(operation.description)}\n\n` : '',
    table(['Parameter', 'Type', '', ''], parameters),
    body('Takes', operation.requestBody?.content, schemas),
    ...answers
      .filter(([code]) => isGood(code))
      .map(([code, { content }]) => body(`Answers ${code}`, content, schemas) || `**Answers ${code}**\n\n`),
    refusals.length > 0 ? `Refused with ${refusals.join(', ')}.\n\n` : '',
  ].join('');
}

let pages: TagPage[] | undefined;

export function readOperations(): TagPage[] {
  if (pages) return pages;
  const { tags, paths, components } = describe();
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  pages = tags.map(({ name: tag }) => {
    const own = all.filter(({ operation }) => operation.tags.includes(tag));
    const parts = own.map(({ path, method, operation }) =>
      describeOperation(path, method, operation, components.schemas),
    );
    const title = `API: ${tag}`;
    return { tag, name: nameOf(tag), count: own.length, content: `# ${title}\n\n${parts.join('')}` };
  });
  return pages;
}
