/** The API reference as one page to read: no script, works offline and on paper. */

interface Schema {
  $ref?: string;
  title?: string;
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
  default?: unknown;
}
interface Content {
  [mediaType: string]: { schema?: Schema };
}
interface Described {
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

const escape = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const anchor = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
const nameOf = (ref: string) => ref.split('/').at(-1)!;

function typeOf(schema: Schema): string {
  if (schema.$ref) return `<a href="#schema-${anchor(nameOf(schema.$ref))}">${escape(nameOf(schema.$ref))}</a>`;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return variants.map(typeOf).join(' or ');
  if (schema.const !== undefined) return escape(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((value) => escape(JSON.stringify(value))).join(' or ');
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  return escape([schema.type ?? 'any'].flat().join(' or ') + (schema.format ? ` (${schema.format})` : ''));
}

const row = (cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
const table = (rows: string[]) => (rows.length === 0 ? '' : `<table>${rows.join('')}</table>`);

function fields(schema: Schema): string {
  return table(
    Object.entries(schema.properties ?? {}).map(([name, field]) =>
      row([
        `<code>${escape(name)}</code>${schema.required?.includes(name) ? '' : ' <i>optional</i>'}`,
        typeOf(field),
        escape(field.description ?? ''),
      ]),
    ),
  );
}

function body(content: Content | undefined): string {
  return Object.entries(content ?? {})
    .map(
      ([type, { schema = {} }]) =>
        `<p>${escape(type)}: ${typeOf(schema)}</p>${schema.properties ? fields(schema) : ''}`,
    )
    .join('');
}

function operation(path: string, method: string, described: Described): string {
  const parameters = (described.parameters ?? []).map(({ name, in: place, required, schema }) =>
    row([`<code>${escape(name)}</code>${required ? '' : ' <i>optional</i>'}`, escape(place), typeOf(schema)]),
  );
  const answers = Object.entries(described.responses).map(([code, { description, content }]) =>
    row([
      `<b>${code}</b>`,
      escape(description),
      Object.values(content ?? {})
        .map(({ schema = {} }) => typeOf(schema))
        .join(', '),
    ]),
  );
  return `<article><h3 id="${anchor(`${method} ${path}`)}"><b>${method.toUpperCase()}</b> <code>${escape(path)}</code></h3>
<p>${escape(described.summary)}</p><p class="more">${escape(described.description ?? '')}</p>
${table(parameters)}${described.requestBody ? `<h4>Takes</h4>${body(described.requestBody.content)}` : ''}
<h4>Answers</h4>${table(answers)}</article>`;
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:#161c21;background:#fff}
h2{border-bottom:1px solid #dde2e6;margin-top:3rem}article{margin:2rem 0}h3{font-weight:400}h4{margin:.5rem 0}
table{border-collapse:collapse;width:100%}td{border-top:1px solid #e9edf0;padding:.25rem .5rem;vertical-align:top}
.more{color:#46505a;white-space:pre-line}code{font-size:.95em}a{color:#0b6073}nav{columns:2}
@media(prefers-color-scheme:dark){body{background:#141a1e;color:#e6ebee}a{color:#5fc3d6}.more{color:#aeb8c0}td,h2{border-color:#28323a}}`;

export function referencePage(document: Record<string, unknown>, title: string): string {
  const paths = Object.entries(document['paths'] as Record<string, Record<string, Described>>);
  const all = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  );
  const tags = [...new Set(all.flatMap(({ described }) => described.tags))];
  const { schemas } = document['components'] as { schemas: Record<string, Schema> };
  const sections = tags.map((tag) => {
    const own = all.filter(({ described }) => described.tags.includes(tag));
    const articles = own.map(({ path, method, described }) => operation(path, method, described));
    return `<h2 id="tag-${anchor(tag)}">${escape(tag)}</h2>${articles.join('')}`;
  });
  const objects = Object.entries(schemas).map(
    ([name, schema]) => `<article><h3 id="schema-${anchor(name)}">${escape(name)}</h3>${fields(schema)}</article>`,
  );
  const links = tags.map((tag) => `<a href="#tag-${anchor(tag)}">${escape(tag)}</a><br>`).join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${STYLE}</style></head><body><h1>${escape(title)}</h1>
<nav>${links}<a href="#schemas">objects</a></nav>${sections.join('')}<h2 id="schemas">objects</h2>${objects.join('')}</body></html>`;
}
