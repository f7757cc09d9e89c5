import { describe, expect, it } from 'vitest';
import type { ParkedCell } from '../../../shared/api/trigger-shapes.ts';
import { differences } from '../../../infra/console/page/differences.ts';
import { errorGroups } from '../../../infra/console/page/error-groups.ts';
import { parseExactly, prettyJson, shortJson, type Value } from '../../../infra/console/page/exact-json.ts';
import { parseShards } from '../../../infra/console/page/parse-shards.ts';
import {
  agoText,
  beginsRowKey,
  bytesText,
  durationText,
  shellWord,
  timeText,
  visible,
} from '../../../infra/console/page/text.ts';

describe('differences', () => {
  it('are the least parts, in the order of the newer one, whatever the order of keys', () => {
    const before = { fare: { total: 12.5, tip: 1 }, riders: ['a', 'b'], gone: true };
    const after = { riders: ['a', 'c', 'd'], fare: { tip: 1, total: 14 } };
    expect(differences(before, after).found).toEqual([
      { path: 'riders[1]', before: 'b', after: 'c' },
      { path: 'riders[2]', before: undefined, after: 'd' },
      { path: 'fare.total', before: 12.5, after: 14 },
      { path: 'gone', before: true, after: undefined },
    ]);
  });

  it('tell a list from an object, and take __proto__ for a key', () => {
    expect(differences([], {}).found).toEqual([{ path: '', before: [], after: {} }]);
    const after = JSON.parse('{"__proto__": 1, "a b": 2}') as Value;
    expect(differences({}, after).found.map(({ path }) => path)).toEqual(['__proto__', '["a b"]']);
  });

  it('end where they are many', () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`k${at}`, at]));
    const { found, more } = differences({}, many);
    expect([found.length, more]).toEqual([500, true]);
  });
});

describe('errors', () => {
  it('are grouped by all but keys and numbers, the largest group first', () => {
    const cell = (last_error: string, last_failed_at: string) => ({ last_error, last_failed_at }) as ParkedCell;
    const groups = errorGroups([
      cell('no route', '2026-01-01T00:00:00Z'),
      cell('card 12 of 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1 expired', '2026-01-02T00:00:00Z'),
      cell('card 13 of 7e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1 expired', '2026-01-03T00:00:00Z'),
    ]);
    expect(groups.map(({ text, cells, last }) => [text, cells.length, last])).toEqual([
      ['card … of … expired', 2, '2026-01-03T00:00:00Z'],
      ['no route', 1, '2026-01-01T00:00:00Z'],
    ]);
  });
});

describe('JSON', () => {
  it('keeps integers that no double keeps', () => {
    expect(parseExactly('{"a":9007199254740993,"b":1.5}', false)).toEqual({ a: 9_007_199_254_740_993n, b: 1.5 });
    expect(prettyJson({ a: 9_007_199_254_740_993n, b: [] })).toBe('{\n  "a": 9007199254740993,\n  "b": []\n}');
  });

  it('is cut off without the rest being written', () => {
    expect(shortJson({ a: 'x'.repeat(1_000_000), b: 1 }, 20)).toHaveLength(21);
    expect(shortJson({ a: [1, null, 'b'] }, 100)).toBe('{"a":[1,null,"b"]}');
  });
});

it.each([
  ['', [0, 1, 2, 3]],
  ['all', [0, 1, 2, 3]],
  ['1, 2-3', [1, 2, 3]],
  ['3,3', [3]],
  ['4', undefined],
  ['3-1', undefined],
  ['a', undefined],
])('shards %j', (text, shards) => {
  expect(parseShards(text, 4)).toEqual(shards);
});

describe('text', () => {
  it('is shown as what it is, whatever it would do', () => {
    expect(visible('\u202eabc\u0000\n')).toBe(String.raw`\u202eabc\u0000\u000a`);
    expect(visible('ünï 漢字')).toBe('ünï 漢字');
  });

  it('is one word for a shell', () => {
    expect(['BASE', "a'b; rm -rf /", '$(x)'].map(shellWord)).toEqual([
      'BASE',
      String.raw`'a'\''b; rm -rf /'`,
      "'$(x)'",
    ]);
  });

  it.each([
    ['6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1', true],
    ['6E3A', true],
    ['6e3a0f9c-4d', true],
    ['6e3', false],
    ['6e3a0f9c4', false],
    ['6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1a', false],
    ['req-77', false],
  ])('%s begins a row key: %s', (text, begins) => expect(beginsRowKey(text)).toBe(begins));

  it('says times, durations and sizes', () => {
    const time = '2026-01-31T08:00:00.123456Z';
    expect(timeText(time)).toBe('2026-01-31 08:00:00.123');
    expect([0, 5, 200, 10_000, -400_000].map((after) => agoText(time, Date.parse(time) + after * 1000))).toEqual([
      'now',
      '5 s ago',
      '3 min ago',
      '3 h ago',
      'in 5 days',
    ]);
    expect([0.5, 5, 60, 600, 7200, 200_000].map(durationText)).toEqual([
      '0.50 s',
      '5.0 s',
      '60 s',
      '10 min',
      '2 h',
      '2 days',
    ]);
    expect([0, 999, 377_000, 5_000_000].map(bytesText)).toEqual(['0 B', '999 B', '377 kB', '5.0 MB']);
  });
});
