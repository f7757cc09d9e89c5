import { expect, it } from 'vitest';
import { CommandTexts, isCommit } from './command-texts.ts';
import { furthest, grownOf } from './judge-growth.ts';

it('the group that is furthest from its part counts, above it or below', () => {
  const held = (...shards: readonly number[]) =>
    shards.map((count, position) => ({ group: `group-${position + 1}`, shards: count, bytes: count * 100 }));
  expect(furthest(held(8, 8, 8), 'shards')).toBe(0);
  expect(furthest(held(8, 8, 8, 0), 'shards')).toBe(1);
  expect(furthest(held(90, 100, 110), 'bytes')).toBeCloseTo(0.1);
});

it('the growth of a rate is compared with the growth in groups', () => {
  expect(grownOf(300, 600, { before: 3, after: 6 })).toBe(1);
  expect(grownOf(300, 390, { before: 3, after: 4 })).toBeCloseTo(0.9);
  expect(grownOf(300, 300, { before: 3, after: 6 })).toBe(0);
});

function packet(sequence: number, content: string): Buffer {
  const bytes = Buffer.from(content, 'latin1');
  return Buffer.concat([Buffer.from([bytes.length & 255, bytes.length >> 8, 0, sequence]), bytes]);
}

it('statements are found in what a client sends, however it is cut', () => {
  const stream = Buffer.concat([
    packet(1, 'a handshake, which is no statement'),
    packet(0, `\u0003INSERT INTO a VALUES ('${'x'.repeat(300)}')`),
    packet(0, '\u000e'),
    packet(0, '\u0003SELECT 1'),
    packet(0, '\u0003\u0000\u0001SELECT 2'),
  ]);
  for (const size of [1, 7, 1000]) {
    const texts = new CommandTexts();
    const found: string[] = [];
    for (let at = 0; at < stream.length; at += size) found.push(...texts.read(stream.subarray(at, at + size)));
    expect(found.map((text) => text.slice(0, 13))).toEqual(['INSERT INTO a', 'SELECT 1', 'SELECT 2']);
  }
});

it('a change ends with a commit, several statements of a text with one', () => {
  for (const text of ['INSERT INTO a', 'BEGIN; INSERT INTO a', 'RENAME TABLE a', 'update a'])
    expect(isCommit(text)).toBe(true);
  for (const text of ['SELECT 1', '(SELECT 1) UNION', 'SET SESSION a = 1', 'ROLLBACK'])
    expect(isCommit(text)).toBe(false);
});
