/**
 * Every block of code in the README, CONTRIBUTING.md and docs/, with the test that does or checks what it says. A block is known
 * by words that no other block of its page has, or with all others of its page.
 */
const EXAMPLES = 'tests/manual.test.ts';
const CHECKED = 'tests/manual-blocks.test.ts';
const OPERATED = 'tests/manual-operators.test.ts';
const PROXY = 'tests/manual-proxy.test.ts';
const MOVING = 'tests/manual-moving.test.ts';
const MONITORING = 'tests/manual-monitoring.test.ts';
const RELEASE = 'tests/release.test.ts';
const BACKUP = 'tests/backup.test.ts';
const ACCOUNTS = 'tests/support/accounts.ts';
const SSH = 'tests/manual-ssh.test.ts';

/** Of all blocks of a page. */
export const ALL = '';

export interface KnownBlock {
  page: string;
  words: string;
  test: string;
  how: string;
}

const known = (page: string, ...blocks: [words: string, test: string, how: string][]): KnownBlock[] =>
  blocks.map(([words, test, how]) => ({ page, words, test, how }));

export const KNOWN: KnownBlock[] = [
  ...known(
    'README.md',
    ['npm start -- --demo', CHECKED, 'the same as in the quick start'],
    ['npm ci && npm test', CHECKED, 'compared with the scripts of npm; it is how these tests are run'],
  ),
  ...known('CONTRIBUTING.md', ['npm run check ', CHECKED, 'compared with the scripts of npm']),
  ...known(
    'docs/architecture.md',
    ['export const getGroup', CHECKED, 'compared with the operation'],
    ['submit   checks', CHECKED, 'a drawing: its words are those of the page'],
  ),
  ...known('docs/authors/index.md', [ALL, EXAMPLES, 'a package that is tested, built, collected and run']),
  ...known('docs/authors/warm-start.md', ['"warm_start"', CHECKED, 'read in a manifest']),
  ...known('docs/guide/api-token.md', [ALL, EXAMPLES, 'run']),
  ...known('docs/logging.md', ['RotatingFileHandler', CHECKED, 'logged with']),
  ...known(
    'docs/operate/backup.md',
    ['tar --exclude', OPERATED, 'run, with a systemctl that starts and stops a service'],
    ['data.before', OPERATED, 'run, with a systemctl that starts and stops a service'],
    ['deploy/backup.sh', BACKUP, 'run'],
    ['deploy/restore.sh', BACKUP, 'run'],
    ['submissions-disable', OPERATED, 'run'],
  ),
  ...known(
    'docs/operate/database.md',
    ['servicectl set-db', OPERATED, 'run'],
    ['pg_dump old', OPERATED, 'run'],
    ['drop table accounting_records', OPERATED, 'run'],
  ),
  ...known('docs/operate/monitoring.md', [
    'scrape_configs',
    MONITORING,
    'read by a Prometheus that then has all numbers',
  ]),
  ...known(
    'docs/operate/moving.md',
    ['OLD=postgresql', MOVING, 'run'],
    ['create role reader', MOVING, 'run'],
    ['.pgpass', MOVING, 'run'],
    ['--dry-run', MOVING, 'run'],
    ['This was a trial', MOVING, 'compared with what it prints'],
    ['prevent_new_submissions', MOVING, 'run'],
    ['pg_dump -Fc', MOVING, 'run'],
    ['--report import.json', MOVING, 'run'],
  ),
  ...known(
    'docs/operate/proxy.md',
    ['npm run build:web', PROXY, 'run'],
    ['ssl_certificate_key', PROXY, 'an nginx before the service'],
  ),
  ...known(
    'docs/operate/security.md',
    ['useradd', CHECKED, 'run, with a stand-in for useradd'],
    ['NOPASSWD', ACCOUNTS, 'what the tests of accounts are set up with; read by visudo'],
    ['usermod', ACCOUNTS, 'what the tests of accounts are set up with'],
  ),
  ...known('docs/operate/sign-in.md', ['OAUTH_CLIENT_NAME', CHECKED, 'read as settings']),
  ...known('docs/operate/slurm-jobs.md', ['mem_factor', CHECKED, 'read as the settings of a task']),
  ...known(
    'docs/operate/slurm.md',
    ['Defaults:service', CHECKED, 'read by visudo; the rule that the tests of the cluster have'],
    ['sbatch --wrap', 'tests/cluster/accounts.test.ts', 'run'],
    ['ssh-keygen', SSH, 'run, with a real sshd'],
    ['sbatch --version', SSH, 'run, with a real sshd'],
  ),
  ...known('docs/operate/systemd.md', ['ExecStart=', CHECKED, 'verified by systemd-analyze']),
  ...known('docs/python.md', [ALL, EXAMPLES, 'run']),
  ...known('docs/quick-start.md', [ALL, EXAMPLES, 'compared with npm and with what a start prints']),
  ...known(
    'docs/release.md',
    ['mkdir service', RELEASE, 'run'],
    ['stop the old release', RELEASE, 'run'],
    ['daemon-reload', RELEASE, 'run, with stand-ins for useradd and systemctl'],
    ['servicectl recent', RELEASE, 'run'],
    ['podman build', RELEASE, 'compared with the Containerfile'],
    ['podman compose', RELEASE, 'compared with the compose file'],
    ['--platform linux-arm64', RELEASE, 'compared with the scripts of npm and the platforms'],
  ),
  ...known('docs/settings.md', ['appenders', PROXY, 'the log of a web server that stands alone']),
  ...known(
    'docs/web.md',
    ['npm run build:web', CHECKED, 'the same as on the page of the reverse proxy'],
    ['SITE=', CHECKED, 'its variables, project and file exist'],
  ),
];
