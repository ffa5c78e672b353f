/**
 * The audit log. It names people and things as they were and refers to no other table, so that it outlives them.
 *
 * Every filter has an index that ends with the time, so that the newest records of it are found at once however many there
 * are. Texts are found by the beginnings of their words.
 */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function audit_words(text) returns text language sql immutable parallel safe
      return trim(regexp_replace($1, '[^[:alnum:]]+', ' ', 'g'))`.execute(db);
  await sql`
    create table audit_log (
      id bigint generated always as identity primary key,
      timestamp timestamptz not null default clock_timestamp(),
      user_id integer,
      user_email text,
      as_user_id integer,
      as_user_email text,
      via text not null,
      address text not null,
      action text not null,
      object_type text not null,
      object_id integer not null,
      object_name text not null,
      details jsonb not null default '{}',
      words tsvector not null generated always as (to_tsvector('simple', audit_words(
        coalesce(user_email, '') || ' ' || coalesce(as_user_email, '') || ' ' || address || ' ' || object_name || ' ' ||
        details::text))) stored
    )`.execute(db);
  await sql`create index audit_log_newest on audit_log (timestamp, id)`.execute(db);
  await sql`create index audit_log_user on audit_log (user_id, timestamp, id)`.execute(db);
  await sql`
    create index audit_log_as_user on audit_log (as_user_id, timestamp, id) where as_user_id is not null`.execute(db);
  await sql`create index audit_log_action on audit_log (action, timestamp, id)`.execute(db);
  await sql`create index audit_log_object on audit_log (object_type, object_id, timestamp, id)`.execute(db);
  await sql`create index audit_log_words on audit_log using gin (words)`.execute(db);
}
