import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { localHost } from '../../src/hosts/index.ts';
import {
  chosenVersion,
  indexSettings,
  type IndexSettings,
  type ListedVersion,
  readIndexPage,
  versionsOfPage,
} from '../../src/tasks/package-index.ts';

// past the programs that only choose an interpreter, which take their time
const PYTHON = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
const JSON_TYPE = 'application/vnd.pypi.simple.v1+json';

const jsonPage = (content: object) => ({ status: 200, type: JSON_TYPE, text: JSON.stringify(content) });
const htmlPage = (...links: string[]) => ({
  status: 200,
  type: 'text/html; charset=utf-8',
  text: `<!DOCTYPE html><html><head><title>Links</title></head><body><h1>Links</h1>\n${links.join('<br/>\n')}</body></html>`,
});
const link = (filename: string, attributes = '') =>
  `<a href="../../files/${filename}#sha256=0"${attributes}>${filename}</a>`;

/** Versions in the order of the page, those that are withdrawn in brackets. */
const shown = (versions: ListedVersion[]) => versions.map(({ version, yanked }) => (yanked ? `(${version})` : version));

describe('a page in JSON', () => {
  const file = (filename: string, yanked?: boolean | string) => ({
    filename,
    ...(yanked === undefined ? {} : { yanked }),
  });

  it.each<[string, object, string[]]>([
    ['the list alone', { versions: ['1.0', '1.1'] }, ['1.0', '1.1']],
    [
      'files alone, as older indexes answer',
      { files: [file('pkg-1.0-py3-none-any.whl'), file('pkg-1.1.tar.gz')] },
      ['1.0', '1.1'],
    ],
    ['nothing', {}, []],
    [
      'a flag, a reason, an empty reason and no word about withdrawal',
      {
        versions: ['1', '2', '3', '4', '5'],
        files: [
          file('pkg-1.tar.gz', true),
          file('pkg-2.tar.gz', 'it deletes everything'),
          file('pkg-3.tar.gz', false),
          file('pkg-4.tar.gz'),
          file('pkg-5.tar.gz', ''),
        ],
      },
      ['(1)', '(2)', '3', '4', '(5)'],
    ],
    [
      'a version with one file withdrawn, and one with all',
      {
        versions: ['1', '2'],
        files: [
          file('pkg-1.tar.gz', true),
          file('pkg-1-py3-none-any.whl', false),
          file('pkg-2-py3-none-any.whl', true),
          file('pkg-2.tar.gz', true),
        ],
      },
      ['1', '(2)'],
    ],
    ['a version without files', { versions: ['1', '2'], files: [file('pkg-2.tar.gz')] }, ['1', '2']],
    [
      'an old file that writes its version otherwise than the list',
      { versions: ['1.0a1'], files: [file('pkg-1.0.alpha1.tar.gz', true)] },
      ['(1.0a1)'],
    ],
  ])('with %s', (_, content, expected) => {
    expect(shown(versionsOfPage(jsonPage(content), 'pkg'))).toEqual(expected);
  });

  it('is told by its type, also the plain one', () => {
    expect(shown(versionsOfPage({ ...jsonPage({ versions: ['1'] }), type: 'application/json' }, 'pkg'))).toEqual(['1']);
  });
});

describe('a page in HTML', () => {
  it.each<[string, string, string[], string[]]>([
    [
      'wheels and archives of each kind',
      'pkg',
      [
        'pkg-1.0-py3-none-any.whl',
        'pkg-1.1.tar.gz',
        'pkg-1.2.zip',
        'pkg-1.3.tar.bz2',
        'pkg-1.4.tgz',
        'pkg-1.5.tar.xz',
      ].map((name) => link(name)),
      ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5'],
    ],
    [
      'a name with hyphens, in all its spellings',
      'my-big-pkg',
      [link('my_big_pkg-1.0-py3-none-any.whl'), link('my-big-pkg-1.1.tar.gz'), link('My.Big_Pkg-1.2.tar.gz')],
      ['1.0', '1.1', '1.2'],
    ],
    ['a name that ends with a number', 'pkg-2', [link('pkg-2-1.0.tar.gz'), link('pkg_2-1.1.zip')], ['1.0', '1.1']],
    [
      'withdrawn files, with a reason or without',
      'pkg',
      [
        link('pkg-1.tar.gz', ' data-yanked'),
        link('pkg-2.tar.gz', ' data-yanked=""'),
        link('pkg-3.tar.gz', ' DATA-YANKED="a > b"'),
        link('pkg-4.tar.gz', ' data-requires-python="&gt;=3.8"'),
      ],
      ['(1)', '(2)', '(3)', '4'],
    ],
    [
      'signs in attributes that some indexes do not write as entities',
      'pkg',
      [
        link('pkg-1.tar.gz', ' data-requires-python=">=3.8,<4"'),
        link('pkg-2.tar.gz', ` data-requires-python='>=3.8' data-yanked`),
      ],
      ['1', '(2)'],
    ],
    [
      'the word in an address, which says nothing',
      'pkg',
      ['<a href="https://x/a data-yanked b/pkg-1.tar.gz">pkg-1.tar.gz</a>'],
      ['1'],
    ],
    ['one file of two withdrawn', 'pkg', [link('pkg-1.tar.gz', ' data-yanked'), link('pkg-1-py3-none-any.whl')], ['1']],
    [
      'blanks, line ends and large letters in tags',
      'pkg',
      ['<A HREF="x"\n class="y">\n  pkg-1.0.tar.gz\n</A>'],
      ['1.0'],
    ],
    [
      'links that are no files of the package',
      'pkg',
      [
        '<a href="../">../</a>',
        '<a>pkg</a>',
        '<a href="x"></a>',
        link('pkg-1.0.tar.gz.asc'),
        link('other-1.0.tar.gz'),
        link('pkg-1.0.exe'),
        link('pkg.tar.gz'),
        '<abbr>pkg-9.tar.gz</abbr>',
        link('pkg-1.0.tar.gz'),
      ],
      ['1.0'],
    ],
  ])('with %s', (_, name, links, expected) => {
    expect(shown(versionsOfPage(htmlPage(...links), name))).toEqual(expected);
  });
});

describe('the version that is meant', () => {
  const listed = (...versions: string[]): ListedVersion[] =>
    versions.map((text) => ({ version: text.replace(/[()]/g, ''), yanked: text.startsWith('(') }));

  it.each<[string, string | undefined, string[], string | undefined]>([
    ['the newest', undefined, ['1.9.0', '1.10.0', '1.2.0'], '1.10.0'],
    ['the newest that is final', undefined, ['1.0', '2.0rc1', '2.0.dev1', '1.1a1'], '1.0'],
    ['the newest that is offered', undefined, ['1.0', '(2.0)'], '1.0'],
    ['a pre-release, when there is nothing else', undefined, ['1.0a1', '1.0b1', '1.0.dev9'], '1.0b1'],
    ['a pre-release before a withdrawn release', undefined, ['1.0a1', '(1.0)'], '1.0a1'],
    ['a withdrawn one, when there is nothing else', undefined, ['(1.0)', '(1.1)'], '1.1'],
    ['a later release of the same', undefined, ['1.0', '1.0.post1'], '1.0.post1'],
    ['the newest beside what is no version', undefined, ['1.0', 'banana', '2004d-x'], '1.0'],
    ['none of what is no version', undefined, ['banana'], undefined],
    ['none of nothing', undefined, [], undefined],
    ['exactly this one', '1.2', ['1.2', '1.2.5'], '1.2'],
    ['exactly this one, withdrawn or not', '1.2', ['(1.2)', '1.3'], '1.2'],
    ['exactly this pre-release', '2.0rc1', ['1.0', '2.0rc1'], '2.0rc1'],
    ['exactly this text, version or not', 'banana', ['banana'], 'banana'],
    ['the newest of its kind, by number and not by letter', '1', ['1.9.0', '1.10.0', '2.0.0'], '1.10.0'],
    ['the newest of its kind, also beside one that equals it', '1.2', ['1.2.0', '1.2.5', '1.3.0'], '1.2.5'],
    ['only whole numbers', '1.1', ['1.10.0', '1.11'], undefined],
    ['the newest of its kind that is final and offered', '1', ['1.0.0', '1.1.0rc1', '(1.2.0)'], '1.0.0'],
    ['a pre-release of its kind, when there is nothing else', '1', ['1.0.0rc1', '2.0'], '1.0.0rc1'],
    ['an equal one in other words', '1.0.0', ['1.0', '2.0'], '1.0'],
    ['an equal one in other letters', 'v1.0-RC.1', ['1.0rc1'], '1.0rc1'],
    ['none', '3', ['1.0', '2.0'], undefined],
    ['none of nothing, when one is asked for', '1', [], undefined],
  ])('is %s', (_, asked, versions, expected) => {
    expect(chosenVersion(asked, listed(...versions))).toBe(expected);
  });
});

describe('the settings of the index', () => {
  // without the files and variables of this machine
  const CLEAN = {
    PIP_CONFIG_FILE: '/dev/null',
    PIP_INDEX_URL: '',
    PIP_EXTRA_INDEX_URL: '',
    PIP_FIND_LINKS: '',
    PIP_CERT: '',
  };
  const settingsWith = async (environment: Record<string, string>, setting: string | null): Promise<IndexSettings> => {
    for (const [name, value] of Object.entries({ ...CLEAN, ...environment })) vi.stubEnv(name, value || undefined);
    try {
      return await indexSettings(localHost, PYTHON, setting);
    } finally {
      vi.unstubAllEnvs();
    }
  };
  const OF_PIP = {
    PIP_INDEX_URL: 'https://mirror.example.org/simple',
    PIP_EXTRA_INDEX_URL: 'https://one.example.org/simple https://two.example.org/simple',
    PIP_FIND_LINKS: '/wheels',
    PIP_TRUSTED_HOST: 'mirror.example.org',
    PIP_CERT: '/certificates.pem',
  };

  it.each<[string, Record<string, string>, string | null, Partial<IndexSettings>]>([
    [
      'the public index by default',
      {},
      null,
      { index_url: 'https://pypi.org/simple', extra_index_urls: [], no_index: false },
    ],
    [
      'those of pip',
      OF_PIP,
      null,
      {
        index_url: 'https://mirror.example.org/simple',
        extra_index_urls: ['https://one.example.org/simple', 'https://two.example.org/simple'],
        find_links: ['/wheels'],
        trusted_hosts: ['mirror.example.org'],
        cert: '/certificates.pem',
        no_index: false,
      },
    ],
    ['none, as pip is told', { PIP_NO_INDEX: '1' }, null, { no_index: true }],
    [
      'none, as the service is told, and the folders of pip',
      OF_PIP,
      'none',
      { index_url: null, extra_index_urls: [], find_links: ['/wheels'], no_index: true },
    ],
    [
      'the address that the service is told, and the certificate of pip',
      { ...OF_PIP, PIP_NO_INDEX: '1' },
      'https://own.example.org/simple',
      { index_url: 'https://own.example.org/simple', extra_index_urls: [], cert: '/certificates.pem', no_index: false },
    ],
  ])('are %s', async (_, environment, setting, expected) => {
    expect(await settingsWith(environment, setting)).toMatchObject(expected);
  });

  it('are none of its own where Python has no pip', async () => {
    const settings = await indexSettings(localHost, '/bin/false', null);
    expect(settings).toMatchObject({ index_url: null, find_links: [], no_index: false });
    expect(await indexSettings(localHost, '/no/such/python', 'https://x/simple')).toMatchObject({
      index_url: 'https://x/simple',
    });
  });
});

describe('asking the index', () => {
  let index: Server;
  let settings: IndexSettings;
  const asked: { url: string | undefined; accept: string | undefined; authorization: string | undefined }[] = [];

  beforeAll(async () => {
    index = createServer((request, response) => {
      asked.push({ url: request.url, accept: request.headers.accept, authorization: request.headers.authorization });
      const name = request.url!.split('/').at(-2);
      if (name === 'in-json') {
        response.setHeader('content-type', JSON_TYPE);
        response.end(jsonPage({ versions: ['1.0'], files: [{ filename: 'in_json-1.0.tar.gz', yanked: 'bäd' }] }).text);
      } else if (name === 'in-html') {
        response.setHeader('content-type', 'text/html');
        response.end(htmlPage(link('in_html-2.0-py3-none-any.whl')).text);
      } else {
        response.statusCode = 404;
        response.end('nothing here');
      }
    });
    await new Promise<void>((resolve) => index.listen(0, '127.0.0.1', resolve));
    settings = {
      index_url: `http://127.0.0.1:${(index.address() as AddressInfo).port}/simple/`,
      extra_index_urls: [],
      find_links: [],
      trusted_hosts: [],
      cert: null,
      no_index: false,
    };
    // this machine may go out through a proxy, which does not lead back to it
    vi.stubEnv('NO_PROXY', '127.0.0.1');
    vi.stubEnv('no_proxy', '127.0.0.1');
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    index.close();
  });

  it.each([
    ['in-json', ['(1.0)']],
    ['in-html', ['2.0']],
  ])('reads a page %s', async (name, expected) => {
    const page = await readIndexPage(localHost, PYTHON, settings, name);
    expect([page.status, shown(versionsOfPage(page, name))]).toEqual([200, expected]);
    expect(asked.at(-1)).toMatchObject({ url: `/simple/${name}/`, accept: expect.stringContaining(JSON_TYPE) });
  });

  it('says that the index does not know a package', async () => {
    expect(await readIndexPage(localHost, PYTHON, settings, 'unknown')).toMatchObject({ status: 404 });
  });

  it('shows the credentials in the address to the index', async () => {
    const index_url = settings.index_url!.replace('//', '//me:secret@');
    await readIndexPage(localHost, PYTHON, { ...settings, index_url }, 'in-html');
    expect(asked.at(-1)!.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
  });

  it('says in words that nobody answers', async () => {
    const nobody = { ...settings, index_url: 'http://me:secret@127.0.0.1:1/simple' };
    const error = await readIndexPage(localHost, PYTHON, nobody, 'x').catch((reason: Error) => reason.message);
    expect(error).toMatch(/refused/);
    expect(error).not.toContain('secret');
    await expect(readIndexPage(localHost, '/bin/false', settings, 'x')).rejects.toThrow('no answer');
  });
});
