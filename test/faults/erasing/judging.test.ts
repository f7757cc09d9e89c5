import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { loggedIn } from './logged.ts';
import { markOf, MARKS } from './marks.ts';
import { changed, holesOf, takePicture } from './picture.ts';
import { wentBack, type OffsetSample, type Rewind } from './trigger-offsets.ts';

/** One each second, of which the answer takes no time. */
const looks = (...offsets: readonly (readonly number[])[]): readonly OffsetSample[] =>
  offsets.map((ofShards, second) => ({
    asked: 1000 * second,
    answered: 1000 * second,
    offsets: new Map(ofShards.entries()),
  }));

const rewind = (asked: number, answered: number, ...to: readonly number[]): Rewind => ({
  asked,
  answered,
  to: new Map(to.entries()),
});

it('takes an offset that is lower than at the look before for one that went back', () => {
  expect(wentBack(looks([1, 5], [2, 4], [2, 6]), [])).toEqual({ wrong: 1, of: 4 });
});

it('takes none for it that a rewind set back, once for each shard', () => {
  const samples = looks([9, 9], [0, 9], [1, 9], [2, 0], [3, 2], [2, 1]);
  expect(wentBack(samples, [rewind(500, 700)])).toEqual({ wrong: 2, of: 10 });
  expect(wentBack(samples, [])).toEqual({ wrong: 4, of: 10 });
});

it('takes one for it that is further back than where the rewind sent it', () => {
  expect(wentBack(looks([9, 9], [5, 4], [6, 6]), [rewind(500, 700, 5, 5)]).wrong).toBe(1);
});

it('takes one for it that goes back before a rewind is asked for, or long after its answer', () => {
  const later = Array.from({ length: 8 }, () => [9]);
  expect(wentBack(looks([9], [0], [9]), [rewind(1500, 1700)]).wrong).toBe(1);
  expect(wentBack(looks([9], ...later, [0]), [rewind(500, 700)]).wrong).toBe(1);
  expect(wentBack(looks([9], ...later, [0]), [rewind(500, 6000)]).wrong).toBe(0);
});

it('takes none for it that a rewind set back in the middle of a look', () => {
  const [first, second] = looks([9], [0]);
  if (!first || !second) throw new Error('wanted two looks');
  expect(wentBack([first, { ...second, asked: 400 }], [rewind(500, 600)]).wrong).toBe(0);
});

/** A log of a row that stays, and of one that is erased. */
const storeOf = (...bodies: readonly object[]) => {
  const cells = ['stays', 'erased'].map((row_key, position) => ({
    row_key,
    column_name: 'BASE',
    ref_key: 1,
    created_at: '2026-01-31T08:00:00.000000Z',
    added_id: position + 1,
    body: bodies[position],
  }));
  return {
    heads: async () => [{ shard: 0, head: cells.length }],
    digest: async () => ({ at: cells.length, digest: '', more: false }),
    log: async () => [{ shard: 0, cells, next: cells.length }],
    query: async () => ({ entries: [], next: null }),
  } as unknown as SchemalessClient;
};

it('sees another body of a row that stays, and heeds none of a row that is erased', async () => {
  const written = { erased: [{ row_key: 'erased', column_name: 'BASE', ref_key: 1, body: {} }], kept: [], others: [] };
  const [first, erased, other] = await Promise.all(
    [storeOf({ is: 1 }, { is: 2 }), storeOf({ is: 1 }, {}), storeOf({ is: 3 }, { is: 2 })].map((client) =>
      takePicture(client, written),
    ),
  );
  if (!first || !erased || !other) throw new Error('wanted three pictures');
  expect(changed(first.places, erased.places)).toEqual({ wrong: 0, of: 2 });
  expect(changed(first.places, other.places)).toEqual({ wrong: 1, of: 2 });
});

it('counts what is no more as it was, and what is there no more', () => {
  const now = new Map(Object.entries({ same: 'a', other: 'x', more: 'd' }));
  expect(changed(new Map(Object.entries({ same: 'a', other: 'b', gone: 'c' })), now)).toEqual({ wrong: 2, of: 3 });
});

it('counts places of a log without a cell', () => {
  expect(holesOf({ heads: new Map([[3, 3]]), places: new Map(Object.entries({ '3/1': 'a', '3/3': 'c' })) })).toEqual({
    wrong: 1,
    of: 3,
  });
});

it.each([
  ['hexadecimal', (body: Buffer) => `X'${body.toString('hex')}'`],
  ['a list of bytes', (body: Buffer) => JSON.stringify({ parameters: [body] })],
  ['an array of bytes', (body: Buffer) => JSON.stringify({ parameters: new Uint8Array(body) })],
  ['base64', (body: Buffer) => body.toString('base64')],
])('finds the mark of a body in a line of a log, also where it is compressed: as %s', (_how, encoded) => {
  const stored = encodeBody({ mark: markOf('erased') });
  const packed = encodeBody({ mark: markOf('erased'), more: 'more '.repeat(50) });
  expect(packed.includes(MARKS.erased)).toBe(false);
  for (const body of [stored, packed]) expect(loggedIn(`"sql":"${encoded(body)}"`, new Set()).found).toBeGreaterThan(0);
  expect(loggedIn(`"errno":1205 ${randomUUID()}`, new Set())).toEqual({ found: 0, refusals: 1 });
});

it('finds the name of a subject in a line of a log', () => {
  const subject = randomUUID();
  const hex = Buffer.from(subject).toString('hex');
  expect(loggedIn(`${subject} X'${hex}' ${randomUUID()}`, new Set([subject])).found).toBe(2);
});
