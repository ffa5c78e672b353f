/**
 * Large tables are filled without their keys and indexes, which are made again from the rows that arrived: one join and one
 * sort instead of a look-up for each row. The definitions are those that the table had, and the
 * transaction undoes all of it when something fails. What images and their status refer to is not looked up either: nobody
 * else writes meanwhile, and the counts that are compared at the end miss whatever leads nowhere.
 */
import type pg from 'pg';

import { literal, quoted } from './sql.ts';

const LARGE = ['images', 'history_units', 'history_image_cache'];

interface Part {
  drop: string;
  create: string;
}

async function partsOf(target: pg.ClientBase, table: string): Promise<Part[]> {
  const { rows: keys } = await target.query<{ name: string; definition: string }>(
    // a key that others refer to stays
    `select c.conname as name, pg_get_constraintdef(c.oid) as definition from pg_constraint c
     where c.conrelid = ${literal(table)}::regclass and (c.contype = 'f' or c.contype in ('p', 'u')
       and not exists (select from pg_constraint f where f.contype = 'f' and f.conindid = c.conindid))
     order by c.contype = 'f', c.conname`,
  );
  const { rows: indexes } = await target.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = ${literal(table)}::regclass and not i.indisunique order by c.relname`,
  );
  const { rows: lookups } = await target.query<{ name: string }>(
    `select tgname as name from pg_trigger where tgrelid = ${literal(table)}::regclass and tgname = ${literal(`${table}_belonging_on_insert`)}`,
  );
  const trigger = (name: string, how: string) => `alter table ${quoted(table)} ${how} trigger ${quoted(name)}`;
  return [
    ...lookups.map(({ name }) => ({ drop: trigger(name, 'disable'), create: trigger(name, 'enable') })),
    ...indexes.map(({ name, definition }) => ({ drop: `drop index ${quoted(name)}`, create: definition })),
    ...keys.map(({ name, definition }) => ({
      drop: `alter table ${quoted(table)} drop constraint ${quoted(name)}`,
      create: `alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`,
    })),
  ];
}

export async function inBulk<T>(target: pg.ClientBase, table: string, fill: () => Promise<T>): Promise<T> {
  if (!LARGE.includes(table)) return fill();
  const parts = await partsOf(target, table);
  for (const { drop } of parts) await target.query(drop);
  const filled = await fill();
  for (const { create } of parts) await target.query(create);
  return filled;
}
