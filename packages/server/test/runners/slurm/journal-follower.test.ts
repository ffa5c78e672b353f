/** What a command that follows journals prints on an account of somebody else. */
import { afterEach, describe, expect, it } from 'vitest';

import { type Commands, localHost } from '../../../src/hosts/index.ts';
import { createFollower, type JournalFollower } from '../../../src/runners/slurm/journal-follower.ts';
import { until } from '../../support/until.ts';

const followers: JournalFollower[] = [];
afterEach(() => followers.splice(0).forEach((follower) => follower.close()));

/** A follower whose command is this program of Python; it can print a line with `say`. */
function followerOf(program: string): JournalFollower & { lives(): number } {
  let lives = 0;
  const prelude = 'import json, sys, time\ndef say(**line): print(json.dumps(line), flush=True)\n';
  const commands: Commands = {
    run(_, options) {
      lives += 1;
      return localHost.run(['python3', '-c', prelude + program], options);
    },
  };
  const follower = createFollower(commands);
  followers.push(follower);
  return { ...follower, lives: () => lives };
}

function subscribe(follower: JournalFollower, folder: string, mostBytes = Infinity) {
  const heard = { data: '', bytes: 0, broken: [] as string[] };
  const { goOn } = follower.follow({
    worker: ['python3', 'worker.pyz'],
    folder,
    longestRecord: 2 ** 20,
    offsets: () => ({ journal: heard.bytes }),
    onData({ data }) {
      heard.data += data.toString('latin1').slice(0, 1000);
      heard.bytes += data.length;
      return heard.bytes < mostBytes;
    },
    onBroken: (file) => void heard.broken.push(file),
  });
  return { heard, goOn };
}

const LAST = "say(folder='/mine', file='journal', offset=0, data='the last')\ntime.sleep(60)";

describe('what does not fit ends the command, and the next one goes on', () => {
  it.each<[string, string]>([
    ['no JSON', 'print("hello", flush=True)'],
    ['a line that is none', 'print("[]", flush=True)'],
    ['an offset in words', "say(folder='/mine', file='journal', offset='zero', data='x')"],
    ['an offset below zero', "say(folder='/mine', file='journal', offset=-1, data='x')"],
    ['data that is no text', "say(folder='/mine', file='journal', offset=0, data={'a': 1})"],
    ['a line without an end', "sys.stdout.write('x' * 50_000_000); sys.stdout.flush()"],
  ])('%s', async (_, program) => {
    const follower = followerOf(`${program}\ntime.sleep(60)`);
    const { heard } = subscribe(follower, '/mine');
    await until('a second life', () => follower.lives() >= 2, 20);
    expect(heard).toEqual({ data: '', bytes: 0, broken: [] });
  });
});

it('a batch hears of its own folder, byte for byte, and of journals that are none', async () => {
  const follower = followerOf(
    `say(alive=True)\nsay(folder='/other', file='journal', offset=0, data='not mine')\n` +
      `say(folder='/mine', file='journal', offset=0, data=bytes(range(256)).decode('latin-1'))\n` +
      `say(folder='/mine', file='odd', broken=True)\n${LAST}`,
  );
  const { heard } = subscribe(follower, '/mine');
  await until('the last', () => heard.data.endsWith('the last'));
  expect(heard.bytes).toBe(256 + 8);
  expect(Buffer.from(heard.data, 'latin1').subarray(0, 256)).toEqual(
    Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
  );
  expect([heard.broken, follower.lives()]).toEqual([['odd'], 1]);
});

it('a batch that has more than it can take hears nothing before it wants to, and others go on', async () => {
  const follower = followerOf(`
known = {}
for line in sys.stdin:
    said = json.loads(line)
    if 'forget' in said:
        say(folder='/other', file='journal', offset=0, data='forgot ' + said['forget'] + '. ')
    elif said['follow'] == '/mine':
        for turn in range(20):
            say(folder='/mine', file='journal', offset=said['offsets']['journal'], data='x' * 1000)
`);
  const other = subscribe(follower, '/other');
  const mine = subscribe(follower, '/mine', 5000);
  await until('that it is forgotten', () => other.heard.data.includes('forgot /mine'));
  expect(mine.heard.bytes).toBe(5000);
  mine.goOn();
  await until('more', () => mine.heard.bytes > 5000);
  expect(follower.lives()).toBe(1);
});
