/** Resources, profiles, people and their groups. */
import { RESOURCE_TYPES } from '@service/contract';

import { NO_ROW } from '../finding.ts';
import { asTheyAre, type Mapping, type Plan } from '../mapping.ts';
import { filled, jsonOrEmpty, listed, renamed, shown } from '../sql.ts';
import { readableTime } from '../times.ts';
import { withHoles } from './odd-values.ts';

const TYPES = listed(RESOURCE_TYPES);
const PASSWORD_HASH = String.raw`'^([$]2[abxy]?[$][0-9]{2}[$].{53}|[$]argon2.*)$'`;

export function resources(plan: Plan): Mapping {
  const configurations = ['jobs_runner_config', 'tasks_python_config', 'tasks_pixi_config'];
  return {
    table: 'resources',
    source: 'resource',
    columns: {
      ...asTheyAre('r', [
        'id',
        'name',
        'type',
        'prevent_new_submissions',
        'timestamp_created',
        'host',
        'jobs_local_dir',
        'jobs_slurm_python_worker',
        'jobs_poll_interval',
        'tasks_local_dir',
      ]),
      ...Object.fromEntries(configurations.map((name) => [name, jsonOrEmpty(`r.${name}`)])),
    },
    from: `${plan.rows('resource')} r`,
    findings: [],
  };
}

export function profiles(plan: Plan): Mapping {
  const from = `${plan.rows('profile')} p join ${plan.rows('resource')} r on r.id = p.resource_id`;
  return {
    table: 'profiles',
    source: 'profile',
    columns: {
      ...asTheyAre('p', [
        'id',
        'name',
        'resource_id',
        'username',
        'ssh_key_path',
        'jobs_remote_dir',
        'tasks_remote_dir',
        'pixi_cache_dir',
      ]),
      resource_type: `case when p.resource_type in (${TYPES}) then p.resource_type else r.type end`,
    },
    from,
    findings: [
      {
        rule: 'profiles.unknown-type',
        from,
        where: `(p.resource_type in (${TYPES})) is not true`,
        id: 'p.id',
        text: `'resource_type ' || ${shown('p.resource_type')} || ' → ' || r.type`,
      },
      {
        rule: 'profiles.other-type',
        from,
        where: `p.resource_type in (${TYPES}) and p.resource_type <> r.type`,
        id: 'p.id',
        text: `'The profile is for ' || p.resource_type || ', and its resource ' || r.id || ' is ' || r.type || '.'`,
      },
    ],
  };
}

const DIRS = filled('u.project_dirs');
const NO_DIRS = `cardinality(${DIRS}) = 0`;

export function users(plan: Plan): Mapping {
  const from = `${plan.rows('user_oauth')} u`;
  return {
    table: 'users',
    source: 'user_oauth',
    columns: {
      ...asTheyAre('u', ['id', 'hashed_password', 'is_active', 'is_superuser', 'is_verified', 'profile_id']),
      email: renamed('u.id', 'u.email', plan.emails),
      is_guest: 'u.is_guest and not u.is_superuser',
      project_dirs: `case when ${NO_DIRS} then '{/PLACEHOLDER}' else ${DIRS} end`,
      slurm_accounts: filled('u.slurm_accounts'),
    },
    from,
    findings: [
      {
        rule: 'users.email-case',
        from,
        where: plan.emails.size === 0 ? 'false' : `u.id in (${[...plan.emails.keys()].join(', ')})`,
        id: 'u.id',
        text: `'E-mail address ' || u.email || ' → ' || ${renamed('u.id', 'u.email', plan.emails)}
          || '. An older account has the same address but for capital letters; tell this person, or remove one of the two.'`,
      },
      {
        rule: 'users.guest-and-superuser',
        from,
        where: 'u.is_guest and u.is_superuser',
        id: 'u.id',
        text: `u.email || ' was both superuser and guest: is_guest true → false'`,
      },
      {
        rule: 'users.no-project-dir',
        from,
        where: NO_DIRS,
        id: 'u.id',
        text: `u.email || ': project_dirs [] → ["/PLACEHOLDER"]'`,
      },
      {
        rule: 'users.no-profile',
        from,
        where: 'u.profile_id is null',
        id: 'u.id',
        text: `u.email || ' has no profile: can sign in but not open projects'`,
      },
      {
        rule: 'users.unknown-password',
        from,
        where: `u.hashed_password !~ ${PASSWORD_HASH}`,
        id: 'u.id',
        text: `u.email || ' has a password hash of an unknown kind, which no password matches. Set a new password.'`,
      },
      {
        rule: 'users.no-superuser',
        from: '(select) one',
        where: `not exists (select from ${from} where u.is_superuser and u.is_active)`,
        id: NO_ROW,
        text: `'There is no active superuser. servicectl init-db-data --admin-email … --admin-pwd - --admin-project-dir … makes one.'`,
      },
      ...withHoles(from, 'u', ['project_dirs', 'slurm_accounts']),
    ],
  };
}

const OAUTH_COLUMNS = ['id', 'user_id', 'oauth_name', 'account_id', 'account_email'];

export function oauthAccounts(plan: Plan): Mapping {
  const numbered = `(select ${OAUTH_COLUMNS.join(', ')},
      min(id) over (partition by oauth_name, account_id) as first_id
    from ${plan.rows('oauthaccount')} t) o`;
  return {
    table: 'oauth_accounts',
    source: 'oauthaccount',
    columns: asTheyAre('o', OAUTH_COLUMNS),
    from: `${numbered} where o.id = o.first_id`,
    findings: [
      {
        rule: 'oauth.twice',
        from: numbered,
        where: 'o.id <> o.first_id',
        id: 'o.id',
        text: `'The ' || ${shown('o.oauth_name')} || ' account ' || ${shown('o.account_id')} || ' is linked by '
          || o.first_id || ' already; this link was left out.'`,
        content: `jsonb_build_object(${OAUTH_COLUMNS.map((name) => `'${name}', o.${name}`).join(', ')})`,
      },
      {
        rule: 'oauth.tokens',
        from: `(select count(*) as num from public.oauthaccount) counted`,
        where: 'num > 0',
        id: NO_ROW,
        text: `case num when 1 then '1 external account is' else num || ' external accounts are' end
          || ' imported without the tokens of the provider, which nothing needs after the sign-in.'`,
      },
    ],
  };
}

export const userGroups = (plan: Plan): Mapping => ({
  table: 'user_groups',
  source: 'usergroup',
  columns: asTheyAre('g', ['id', 'name', 'timestamp_created']),
  from: `${plan.rows('usergroup')} g`,
  findings: [],
});

export const groupMembers = (plan: Plan): Mapping => ({
  table: 'group_members',
  source: 'linkusergroup',
  columns: { ...asTheyAre('m', ['group_id', 'user_id']), timestamp_joined: readableTime('m.timestamp_created') },
  from: `${plan.rows('linkusergroup')} m`,
  findings: [],
});
