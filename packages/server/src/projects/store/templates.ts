/** The SQL of workflow templates. */
import { sql } from 'kysely';

import type {
  PageRequest,
  Template,
  TemplateCreate,
  TemplatePage,
  TemplateUpdate,
  WorkflowExport,
} from '@service/contract';

import { contains, pageOf, rowsOf, zulu } from '../../db/index.ts';
import type { Executor } from './access.ts';

const groupsOf = (db: Executor, userId: number) =>
  db.selectFrom('group_members').select('group_id').where('user_id', '=', userId);

/** Templates are for their owner, and for the group they are shared with. */
const readable = (db: Executor, userId: number) =>
  db
    .selectFrom('workflow_templates as template')
    .innerJoin('users as owner', 'owner.id', 'template.user_id')
    .where((eb) =>
      eb.or([eb('template.user_id', '=', userId), eb('template.user_group_id', 'in', groupsOf(db, userId))]),
    );

interface TemplateFilter {
  template_id?: number | undefined;
  is_owner: boolean;
  user_email?: string | undefined;
  name?: string | undefined;
  version?: number | undefined;
}

/** Zero and empty filters count as absent. */
function filtered(db: Executor, userId: number, filter: TemplateFilter) {
  let query = readable(db, userId);
  if (filter.template_id) query = query.where('template.id', '=', filter.template_id);
  if (filter.is_owner) query = query.where('template.user_id', '=', userId);
  if (filter.user_email) query = query.where('owner.email', '=', filter.user_email);
  if (filter.name) query = query.where(sql`template.name collate "default"`, 'ilike', contains(filter.name));
  if (filter.version) query = query.where('template.version', '=', filter.version);
  return query;
}

interface Versions {
  template_id: number;
  template_version: number;
}

/** A page of names, each with its versions, newest first. */
export async function pageOfTemplates(
  db: Executor,
  userId: number,
  filter: TemplateFilter,
  page: PageRequest,
): Promise<TemplatePage> {
  const named = filtered(db, userId, filter);
  const { count } = await db
    .selectFrom(named.select(['template.user_id', 'template.name']).distinct().as('named'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const { limit, offset } = rowsOf(page);
  const items = await named
    .select([
      'owner.email as user_email',
      'template.name as template_name',
      sql<Versions[]>`json_agg(
        json_build_object('template_id', template.id, 'template_version', template.version)
        order by template.version desc)`.as('templates'),
    ])
    .groupBy(['owner.id', 'owner.email', 'template.name'])
    .orderBy((eb) => eb('owner.id', '=', userId), 'desc')
    .orderBy(sql`owner.email collate "C"`)
    .orderBy('template.name')
    .limit(limit)
    .offset(offset)
    .execute();
  const owners = await readable(db, userId)
    .select(sql<string>`owner.email collate "C"`.as('email'))
    .distinct()
    .orderBy('email')
    .execute();
  return { ...pageOf(page, count, items), email_list: owners.map((owner) => owner.email) };
}

/** A template with what it is for the person who asks. */
export async function findTemplate(
  db: Executor,
  userId: number,
  templateId: number,
): Promise<{ template: Template; isOwner: boolean; isReadable: boolean } | undefined> {
  const row = await db
    .selectFrom('workflow_templates as template')
    .innerJoin('users as owner', 'owner.id', 'template.user_id')
    .select([
      'template.id',
      'owner.email as user_email',
      'template.name',
      'template.version',
      'template.timestamp_created',
      'template.timestamp_last_used',
      'template.user_group_id',
      'template.description',
      'template.data',
      'template.fractal_server_version',
    ])
    .select((eb) => [
      eb('template.user_id', '=', userId).as('isOwner'),
      sql<boolean>`template.user_group_id is not null and template.user_group_id in ${groupsOf(db, userId)}`.as(
        'isShared',
      ),
    ])
    .where('template.id', '=', templateId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { isOwner, isShared, ...columns } = row;
  const template = {
    ...columns,
    timestamp_created: zulu(row.timestamp_created),
    timestamp_last_used: zulu(row.timestamp_last_used),
    data: row.data as WorkflowExport,
  };
  return { template, isOwner: Boolean(isOwner), isReadable: Boolean(isOwner) || isShared };
}

interface NewTemplate extends TemplateCreate {
  user_id: number;
  user_group_id: number | null;
  data: WorkflowExport;
  fractal_server_version: string;
}

export async function insertTemplate(db: Executor, template: NewTemplate): Promise<number> {
  const { id } = await db
    .insertInto('workflow_templates')
    .values({ ...template, data: JSON.stringify(template.data) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function updateTemplate(db: Executor, templateId: number, change: TemplateUpdate): Promise<void> {
  await db.updateTable('workflow_templates').set(change).where('id', '=', templateId).execute();
}

export async function deleteTemplate(db: Executor, templateId: number): Promise<void> {
  await db.deleteFrom('workflow_templates').where('id', '=', templateId).execute();
}

/** False when there is no such template. */
export async function rememberUse(db: Executor, templateId: number): Promise<boolean> {
  const rows = await db
    .updateTable('workflow_templates')
    .set({ timestamp_last_used: sql`now()` })
    .where('id', '=', templateId)
    .returning('id')
    .execute();
  return rows.length > 0;
}
