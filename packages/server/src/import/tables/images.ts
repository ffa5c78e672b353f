/**
 * The images of a dataset are one JSON array in existing databases, and rows here. The array, which may have hundreds of
 * megabytes, is taken apart by the source itself.
 */
import type { Finding } from '../finding.ts';
import type { Mapping, Plan } from '../mapping.ts';
import type { Rule } from '../rules.ts';
import { bytesOf, shown } from '../sql.ts';

/** An entry of an index holds 2704 bytes. */
const LONGEST_BYTES = 2600;
const LONGEST_BYTES_OF_API = 2000;

/** Our columns hold a text, a number or a flag as attribute, and flags as types. */
const noAttribute = (value: string) => `jsonb_typeof(${value}) in ('null', 'array', 'object')`;
const noFlag = (value: string) => `jsonb_typeof(${value}) <> 'boolean'`;

/** What a map keeps, and what it loses. */
function map(name: string, isUnfit: (value: string) => string) {
  const given = `e.element -> '${name}'`;
  const each = `jsonb_each(case when jsonb_typeof(${given}) = 'object' then ${given} else '{}' end) entry`;
  const entries = (condition: string) =>
    `(select coalesce(jsonb_object_agg(entry.key, entry.value), '{}') from ${each} where ${condition})`;
  const hasUnfit = `exists (select from ${each} where ${isUnfit('entry.value')})`;
  const isNoMap = `jsonb_typeof(${given}) not in ('object', 'null')`;
  return {
    kept: `case when ${hasUnfit} then ${entries(`not (${isUnfit('entry.value')})`)}
                when jsonb_typeof(${given}) = 'object' then ${given} else '{}' end`,
    loses: `(coalesce(${isNoMap}, false) or ${hasUnfit})`,
    lost: `case when ${isNoMap} then ${given} else ${entries(isUnfit('entry.value'))} end`,
  };
}

const attributes = map('attributes', noAttribute);
const types = map('types', noFlag);
const NO_ORIGIN = `jsonb_typeof(e.element -> 'origin') not in ('string', 'null')`;
const OTHER_KEYS = `(case when jsonb_typeof(e.element) = 'object' then e.element else '{}' end
  - array['zarr_url', 'origin', 'attributes', 'types'])`;

type Rows = Pick<Plan, 'rows'>;

/** The elements of all lists, with their places in them; the address is null where there is none. */
const elements = (plan: Rows) => `(
  select d.id as dataset_id, listed.place - 1 as position, listed.element,
    case when jsonb_typeof(listed.element -> 'zarr_url') = 'string'
         then nullif(listed.element ->> 'zarr_url', '') end as zarr_url
  from ${plan.rows('datasetv2')} d, jsonb_array_elements(
    case when jsonb_typeof(d.images) = 'array' then d.images else '[]' end) with ordinality listed (element, place)) e`;

/** Addresses that were in the list before. Only what is compared is sorted: whole images would fill the disk. */
const repeated = (plan: Rows) => `(
  select dataset_id, position from (
    select e.dataset_id, e.position,
      row_number() over (partition by e.dataset_id, e.zarr_url order by e.position) as occurrence
    from ${elements(plan)} where e.zarr_url is not null) counted
  where occurrence > 1)`;

const TOO_LONG = `${bytesOf('e.zarr_url')} > ${LONGEST_BYTES}`;
const MISSES_VALUES = `(${attributes.loses} or ${types.loses} or coalesce(${NO_ORIGIN}, false))`;

/** Whether any image needs a rule: a query that is cheaper than looking for each of them. */
export const hasOddImages = (plan: Rows) => `
  select exists (
    select from ${elements(plan)}
    where e.zarr_url is null or ${bytesOf('e.zarr_url')} > ${LONGEST_BYTES_OF_API} or ${MISSES_VALUES} or ${OTHER_KEYS} <> '{}'
  ) or exists ${repeated(plan)} as odd`;

export function images(plan: Plan): Mapping {
  const mapping = {
    table: 'images',
    source: 'datasetv2' as const,
    sourceRows: `select count(*) from ${elements(plan)}`,
  };
  const columns = {
    dataset_id: 'e.dataset_id',
    position: 'e.position',
    zarr_url: 'e.zarr_url',
    origin: `case when jsonb_typeof(e.element -> 'origin') = 'string' then e.element ->> 'origin' end`,
  };
  const noList: Finding = {
    rule: 'images.not-a-list',
    from: `${plan.rows('datasetv2')} d`,
    where: `jsonb_typeof(d.images) not in ('array', 'null')`,
    id: 'd.id',
    text: `'The images of dataset ' || d.id || ' are no list but ' || ${shown('left(d.images::text, 200)')} || '; it has none now.'`,
    content: `jsonb_build_object('images', d.images)`,
  };
  if (!plan.oddImages) {
    const map = (name: string) => `coalesce(nullif(e.element -> '${name}', 'null'), '{}')`;
    return {
      ...mapping,
      columns: { ...columns, attributes: map('attributes'), types: map('types') },
      from: elements(plan),
      findings: [noList],
    };
  }
  const isAgain = `(e.dataset_id, e.position) in ${repeated(plan)}`;
  const isKept = `e.zarr_url is not null and not ${TOO_LONG} and not ${isAgain}`;
  const finding = (rule: Rule, where: string, text: string, content?: string): Finding => ({
    rule,
    from: elements(plan),
    where,
    id: `e.dataset_id || '/' || e.position`,
    order: 'e.dataset_id, e.position',
    text,
    ...(content === undefined ? {} : { content }),
  });
  const address = shown('e.zarr_url');
  return {
    ...mapping,
    columns: { ...columns, attributes: attributes.kept, types: types.kept },
    from: `${elements(plan)} where ${isKept}`,
    findings: [
      noList,
      finding(
        'images.no-address',
        'e.zarr_url is null',
        `${shown('left(e.element::text, 200)')} || ' has no zarr_url; it was left out.'`,
        'e.element',
      ),
      finding(
        'images.twice',
        `e.zarr_url is not null and not ${TOO_LONG} and ${isAgain}`,
        `${address} || ' is in the list before; this one was left out.'`,
        'e.element',
      ),
      finding(
        'images.address-too-long',
        `e.zarr_url is not null and ${TOO_LONG}`,
        `${address} || ' has ' || ${bytesOf('e.zarr_url')} || ' bytes; it was left out.'`,
        'e.element',
      ),
      finding(
        'images.long-address',
        `${bytesOf('e.zarr_url')} > ${LONGEST_BYTES_OF_API} and ${isKept}`,
        `${address} || ' has ' || ${bytesOf('e.zarr_url')} || ' bytes; new images have at most ${LONGEST_BYTES_OF_API}.'`,
      ),
      finding(
        'images.value',
        `e.zarr_url is not null and ${MISSES_VALUES} and ${isKept}`,
        `${address} || ' lost values that are no text, number or flag'`,
        `jsonb_build_object('zarr_url', e.zarr_url)
           || case when ${attributes.loses} then jsonb_build_object('attributes', ${attributes.lost}) else '{}' end
           || case when ${types.loses} then jsonb_build_object('types', ${types.lost}) else '{}' end
           || case when ${NO_ORIGIN} then jsonb_build_object('origin', e.element -> 'origin') else '{}' end`,
      ),
      finding(
        'images.more-keys',
        `jsonb_typeof(e.element) = 'object' and ${OTHER_KEYS} <> '{}' and ${isKept}`,
        `${address} || ' lost the keys ' || (select string_agg(key, ', ') from jsonb_object_keys(${OTHER_KEYS}) key)`,
        `jsonb_build_object('zarr_url', e.zarr_url) || (${OTHER_KEYS})`,
      ),
    ],
  };
}
