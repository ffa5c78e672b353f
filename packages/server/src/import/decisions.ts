/** What is decided before anything is copied: new names where two rows cannot have one, and who gets what nobody owns. */
import type pg from 'pg';

import type { Plan } from './mapping.ts';
import { freeAddresses, freeNames } from './names.ts';
import { brokenReferences, type References, referencesWithout } from './references.ts';
import { ImportRefused } from './refused.ts';
import { literal } from './sql.ts';
import { hasOddImages } from './tables/images.ts';
import { ownedProjects } from './tables/projects.ts';

export async function findReferences(source: pg.Client): Promise<References> {
  const { rows } = await source.query<{ reference: string }>(brokenReferences());
  return referencesWithout(new Set(rows.map(({ reference }) => reference)));
}

async function heir(source: pg.Client, references: References, email: string | undefined): Promise<number | null> {
  const users = `${references.rows('user_oauth')} u`;
  if (email !== undefined) {
    const { rows } = await source.query<{ id: number }>(
      `select id from ${users} where lower(email) = lower($1) order by email = $1 desc, id limit 1`,
      [email],
    );
    if (rows[0]) return rows[0].id;
    throw new ImportRefused(
      `There is no account ${email} in the source database. Check the address after --orphans-to.`,
    );
  }
  const { rows } = await source.query<{ id: number | null; orphans: boolean }>(
    `select (select min(id) from ${users} where is_superuser and is_active) as id,
       exists (select from ${ownedProjects(references)} p where p.linked_owner is null) as orphans`,
  );
  const { id, orphans } = rows[0]!;
  if (orphans && id === null) {
    throw new ImportRefused(
      'The source has projects without an owner, and no active superuser who could get them. Name someone with --orphans-to EMAIL.',
    );
  }
  return id;
}

/** Two addresses are one when our own database says so, which may know more letters than the source does. */
async function addresses(source: pg.Client, target: pg.ClientBase, references: References) {
  const { rows } = await source.query<{ id: number; email: string }>(
    `select id, email from ${references.rows('user_oauth')} u`,
  );
  const folded = await target.query<{ id: number; email: string; folded: string }>(
    'select id, email, lower(email) as folded from unnest($1::integer[], $2::text[]) u (id, email)',
    [rows.map(({ id }) => id), rows.map(({ email }) => email)],
  );
  return freeAddresses(folded.rows);
}

/** All names of those who have one twice. */
async function names(source: pg.Client, rows: string, scope: string) {
  const named = `(select id, ${scope} as scope, name from ${rows} named) n`;
  const found = await source.query<{ id: number; scope: number; name: string }>(
    `select id, scope, name from ${named} where scope in (select scope from ${named} group by scope, name having count(*) > 1)`,
  );
  return freeNames(found.rows);
}

export async function decide(
  source: pg.Client,
  target: pg.ClientBase,
  references: References,
  given: { importedAt: string; orphansTo: string | undefined },
): Promise<Plan> {
  const orphansTo = await heir(source, references, given.orphansTo);
  const owner = `coalesce(linked_owner, ${orphansTo ?? 'null'})`;
  const { rows } = await source.query<{ odd: boolean }>(hasOddImages(references));
  return {
    ...references,
    importedAt: given.importedAt,
    orphansTo,
    emails: await addresses(source, target, references),
    projectNames: await names(source, ownedProjects(references), owner),
    workflowNames: await names(source, references.rows('workflowv2'), 'project_id'),
    oddImages: rows[0]!.odd,
  };
}

/** The address of somebody in the source. */
export async function addressOf(source: pg.Client, id: number | null): Promise<string | null> {
  if (id === null) return null;
  const { rows } = await source.query<{ email: string }>(
    `select email from public.user_oauth where id = ${literal(String(id))}`,
  );
  return rows[0]?.email ?? null;
}
