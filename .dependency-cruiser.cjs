/** The direction of imports (docs/architecture.md). A broken rule names the arrow that points the wrong way. */
const server = 'packages/server/src';
const domains = ['accounts', 'projects', 'tasks', 'jobs'];

// guard.ts stands below all rooms: every handler of an event goes through it
module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'the-contract-knows-nobody',
      comment: 'packages/contract is the language of the house: it has no I/O and imports no other package of ours.',
      severity: 'error',
      from: { path: '^packages/contract/src' },
      to: { pathNot: ['^packages/contract/src', '^node_modules/(zod|punycode)'] },
    },
    {
      name: 'web-speaks-only-the-contract',
      severity: 'error',
      from: { path: '^packages/web/src' },
      to: { path: '^packages/server' },
    },
    {
      name: 'the-web-client-comes-built',
      comment:
        'The service loads the build of the client when it runs. Of its sources it knows the type of what both hand over.',
      severity: 'error',
      from: { path: `^${server}` },
      to: { path: '^packages/web', pathNot: '^packages/web/src/lib/server/mounted\\.ts$' },
    },
    {
      name: 'the-mount-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/web/` },
      to: { path: `^${server}/(?!web|settings|logging|guard\\.ts)` },
    },
    {
      name: 'db-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/db` },
      to: { path: `^${server}/(?!db|guard\\.ts)` },
    },
    {
      name: 'http-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/http` },
      to: { path: `^${server}/(?!http|logging|guard\\.ts)` },
    },
    {
      name: 'settings-and-logging-stand-alone',
      severity: 'error',
      from: { path: `^${server}/(settings|logging)/` },
      to: { path: `^${server}/(?!settings|logging)` },
    },
    {
      name: 'the-engine-is-pure',
      comment: 'Everything in, everything out: no I/O, no database, no other room.',
      severity: 'error',
      from: { path: `^${server}/engine` },
      to: { path: `^${server}/(?!engine)` },
    },
    {
      name: 'hosts-know-nobody',
      severity: 'error',
      from: { path: `^${server}/hosts` },
      to: { path: `^${server}/(?!hosts|guard\\.ts)` },
    },
    {
      name: 'runners-know-hosts-and-rules',
      severity: 'error',
      from: { path: `^${server}/runners` },
      to: { path: `^${server}/(?!runners|hosts|engine|guard\\.ts)` },
    },
    {
      name: 'the-queue-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/queue` },
      to: { path: `^${server}/(?!queue|db|logging|guard\\.ts)` },
    },
    {
      name: 'the-audit-log-knows-no-domain',
      comment: 'Domains have written down what they do; the log knows none of them.',
      severity: 'error',
      from: { path: `^${server}/audit` },
      to: { path: `^${server}/(?!audit|http|db|logging|guard\\.ts)` },
    },
    {
      name: 'mail-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/mail` },
      to: { path: `^${server}/(?!mail|settings|logging)` },
    },
    {
      name: 'domains-do-not-look-up',
      comment: 'What starts and assembles the service uses the domains, never the other way round.',
      severity: 'error',
      from: { path: `^${server}/(${domains.join('|')})/` },
      to: { path: `^${server}/(cli/|demo/|(main|run|service|workplace)\\.ts$)` },
    },
    {
      name: 'the-demo-uses-the-api',
      comment: 'What the demo makes, it makes as any client would; only whose demo it is, it asks of accounts.',
      severity: 'error',
      from: { path: `^${server}/demo/` },
      to: { path: `^${server}/(?!(demo|accounts|db|settings)/)` },
    },
    ...[...domains, 'audit', 'demo', 'web'].map((domain) => ({
      name: `${domain}-has-one-door`,
      comment: `Other rooms use ${domain} through its index.ts.`,
      severity: 'error',
      from: { path: `^${server}`, pathNot: `^${server}/${domain}/` },
      to: { path: `^${server}/${domain}/`, pathNot: `^${server}/${domain}/index\\.ts$` },
    })),
    {
      name: 'sql-only-in-stores',
      comment: 'A domain asks its store; only stores and db know Kysely.',
      severity: 'error',
      from: { path: `^${server}/(${[...domains, 'audit'].join('|')})/`, pathNot: '/store(/|\\.ts$)' },
      to: { path: 'node_modules/kysely' },
    },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, pathNot: ['\\.d\\.ts$', '\\.cjs$'] }, to: {} },
  ],
  options: {
    exclude: { path: '(^|/)(\\.svelte-kit|build)/' },
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.cjs'],
    },
  },
};
