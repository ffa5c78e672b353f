/** The direction of imports (docs/architecture.md). A broken rule names the arrow that points the wrong way. */
const server = 'packages/server/src';
const domains = ['accounts', 'projects', 'tasks', 'jobs', 'data', 'pictures', 'tables', 'overview'];

/** The rooms of the web client (packages/web/src/lib), the lowest floor first: each imports from floors below its own. */
const webFloors = [
  ['api', 'styles'],
  ['ui', 'live', 'pixels'],
  ['logs', 'form', 'templates'],
  ['images', 'tasks', 'admin'],
  ['measurements', 'jobs', 'projects'],
  ['viewer', 'workflow', 'frame', 'server'],
];

// guard.ts, people-in-turn.ts, retry.ts, processes.ts, program.ts and version.ts stand below all rooms
module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'the-contract-knows-nobody',
      comment: 'packages/contract describes the wire for all: it has no I/O and imports no other package of ours.',
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
      name: 'the-web-api-shows-nothing',
      comment: 'lib/api calls the service and tells its listeners; what is shown for it is decided above.',
      severity: 'error',
      from: { path: '^packages/web/src/lib/api/' },
      to: { path: '^packages/web/src', pathNot: '^packages/web/src/lib/(api/|format\\.ts$|json\\.ts$)' },
    },
    {
      name: 'web-ui-knows-no-room',
      comment: 'lib/ui is what all pages share; it uses the api, formats and addresses, never what a page is about.',
      severity: 'error',
      from: { path: '^packages/web/src/lib/ui/' },
      to: { path: '^packages/web/src', pathNot: '^packages/web/src/lib/((ui|api)/|(format|json|route)\\.ts$)' },
    },
    ...webFloors.flatMap((rooms, floor) =>
      rooms.map((room) => ({
        name: `web-${room}-imports-from-below`,
        comment: 'Floors of the web client, above: two rooms that need each other want a third one below both.',
        severity: 'error',
        from: { path: `^packages/web/src/lib/${room}/` },
        to: {
          path: `^packages/web/src/(routes|lib/(${webFloors.slice(floor).flat().join('|')}))/`,
          pathNot: `^packages/web/src/lib/${room}/`,
        },
      })),
    ),
    {
      name: 'every-web-room-has-a-floor',
      severity: 'error',
      from: { path: `^packages/web/src/lib/(?!(${webFloors.flat().join('|')})/)[^/]+/` },
      to: {},
    },
    {
      name: 'web-modules-stand-below-all-rooms',
      comment: 'Files of lib itself, such as format.ts and route.ts, serve all rooms and know none.',
      severity: 'error',
      from: { path: '^packages/web/src/lib/[^/]+$' },
      to: { path: '^packages/web/src/(routes|lib/[^/]+)/' },
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
      to: { path: `^${server}/(?!web|http|settings|logging|(guard|retry|version)\\.ts)` },
    },
    {
      name: 'db-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/db` },
      to: { path: `^${server}/(?!db|(guard|people-in-turn|retry|processes)\\.ts)` },
    },
    {
      name: 'http-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/http` },
      to: { path: `^${server}/(?!http|logging|(guard|people-in-turn|retry)\\.ts)` },
    },
    {
      name: 'settings-and-logging-stand-alone',
      severity: 'error',
      from: { path: `^${server}/(settings|logging)/` },
      to: { path: `^${server}/(?!settings|logging|version\\.ts)` },
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
      to: { path: `^${server}/(?!hosts|(guard|retry|processes)\\.ts)` },
    },
    {
      name: 'run-as-knows-hosts',
      comment: 'Whose account runs what people bring, for jobs and task groups alike; it knows neither of them.',
      severity: 'error',
      from: { path: `^${server}/run-as/` },
      to: { path: `^${server}/(?!run-as/|hosts|(guard|retry)\\.ts)` },
    },
    {
      name: 'the-slurm-client-knows-hosts-and-rules',
      comment: 'What is asked of Slurm, by jobs and by task groups alike; it knows neither of them.',
      severity: 'error',
      from: { path: `^${server}/slurm/` },
      to: { path: `^${server}/(?!slurm/|hosts|engine|(guard|retry)\\.ts)` },
    },
    {
      name: 'one-client-of-slurm',
      comment: 'What Slurm prints about jobs, and why it refuses them, is read by its client.',
      severity: 'error',
      from: { path: `^${server}`, pathNot: `^${server}/(slurm/|engine/slurm/)` },
      to: { path: `^${server}/engine/slurm/(queue|refusals)\\.ts$` },
    },
    {
      name: 'runners-know-slurm-hosts-and-rules',
      severity: 'error',
      from: { path: `^${server}/runners` },
      to: { path: `^${server}/(?!runners|slurm/|hosts|engine|(guard|retry|processes)\\.ts)` },
    },
    {
      name: 'the-queue-knows-no-domain',
      severity: 'error',
      from: { path: `^${server}/queue` },
      to: { path: `^${server}/(?!queue|db|logging|(guard|retry)\\.ts)` },
    },
    {
      name: 'the-audit-log-knows-no-domain',
      comment: 'Domains have written down what they do; the log knows none of them.',
      severity: 'error',
      from: { path: `^${server}/audit` },
      to: { path: `^${server}/(?!audit|http|db|logging|(guard|retry)\\.ts)` },
    },
    {
      name: 'folders-know-nobody',
      severity: 'error',
      from: { path: `^${server}/folders` },
      to: { path: `^${server}/(?!folders|processes\\.ts)` },
    },
    {
      name: 'drawing-is-pure',
      comment: 'Pixels in, pixels out: no files, no other room.',
      severity: 'error',
      from: { path: `^${server}/pictures/drawing` },
      to: { path: `^${server}/(?!pictures/drawing)` },
    },
    {
      name: 'the-process-that-draws-knows-files-only',
      comment: 'It has no database, no settings and no secrets.',
      severity: 'error',
      from: { path: `^${server}/pictures/(studio|reading)/` },
      to: {
        path: `^${server}/(?!folders/|zarr/|studio/(serve|order)\\.ts$|pictures/(studio|reading|drawing)/|pictures/ask\\.ts$)`,
      },
    },
    {
      name: 'the-process-that-reads-tables-knows-files-only',
      severity: 'error',
      from: { path: `^${server}/tables/(work|reading)/` },
      to: { path: `^${server}/(?!folders/|zarr/|studio/(serve|order)\\.ts$|tables/(work|reading)/|tables/ask\\.ts$)` },
    },
    {
      name: 'reading-zarr-knows-folders',
      severity: 'error',
      from: { path: `^${server}/zarr/` },
      to: { path: `^${server}/(?!zarr/|folders/)` },
    },
    {
      name: 'a-studio-knows-no-domain',
      comment: 'Processes that read files for people, whatever they make of them; inside them there is no HTTP either.',
      severity: 'error',
      from: { path: `^${server}/studio/` },
      to: { path: `^${server}/(?!studio/|zarr/|folders/|http/|logging/|(guard|retry|processes)\\.ts)` },
    },
    {
      name: 'inside-a-studio-there-are-files-only',
      severity: 'error',
      from: { path: `^${server}/studio/(serve|shelf|order)\\.ts$` },
      to: { path: `^${server}/(?!studio/(shelf|order)\\.ts$|zarr/|folders/|guard\\.ts)` },
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
      to: { path: `^${server}/(cli/|demo/|import/|(main|run|service|workplace)\\.ts$)` },
    },
    {
      name: 'the-import-knows-tables',
      comment: 'An import writes rows, whatever the domains do with them.',
      severity: 'error',
      from: { path: `^${server}/import/` },
      to: { path: `^${server}/(?!(import|db|http)/|(guard|retry)\\.ts)` },
    },
    {
      name: 'the-demo-uses-the-api',
      comment: 'What the demo makes, it makes as any client would; only whose demo it is, it asks of accounts.',
      severity: 'error',
      from: { path: `^${server}/demo/` },
      to: { path: `^${server}/(?!(demo|accounts|db|settings)/)` },
    },
    ...[...domains, 'audit', 'run-as', 'slurm', 'demo', 'import', 'web'].map((domain) => ({
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
