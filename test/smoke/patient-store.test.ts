import { expect, it } from 'vitest';
import type { PutResult } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { referenceStore } from '../support/reference-store.ts';
import { cellOf } from '../support/datastore-conformance.ts';
import { patientStore } from './patient-store.ts';

const reference = referenceStore('smoke', 4);

/** Returns a store that answers its first puts with these results, in order, and the later ones as usual. */
function answering(...results: readonly PutResult[]): Datastore & { readonly puts: () => number } {
  let puts = 0;
  const put: Datastore['put'] = async (cell) => results[puts++] ?? reference.put(cell);
  return { ...reference, put, batchPut: (cells) => Promise.all(cells.map((cell) => put(cell))), puts: () => puts };
}

const BUFFERED: PutResult = { outcome: 'buffered', shard: 3, copies: 1 };
const UNAVAILABLE: PutResult = { outcome: 'unavailable', shard: 3, reason: 'test' };

it('a put that is buffered, or not confirmed, is repeated until it is stored', async () => {
  const store = answering(UNAVAILABLE, BUFFERED);
  expect(await patientStore(store).put(cellOf())).toMatchObject({ outcome: 'stored', added_id: expect.any(Number) });
  expect(store.puts()).toBe(3);
});

it('a cell that is appended between two tries counts as stored, and an earlier one does not', async () => {
  const cell = cellOf();
  await reference.put(cell);
  expect(await patientStore(answering(BUFFERED)).put(cell)).toMatchObject({ outcome: 'stored' });
  expect(await patientStore(answering()).put(cell)).toMatchObject({ outcome: 'stored_before' });
  expect((await patientStore(answering(BUFFERED)).batchPut([cell, cellOf()])).map(({ outcome }) => outcome)).toEqual([
    'stored',
    'stored',
  ]);
});

it('a put that stays buffered, or conflicts, is returned as it came', async () => {
  const always = answering(...Array.from({ length: 1000 }, () => BUFFERED));
  expect(await patientStore(always, 20).put(cellOf())).toEqual(BUFFERED);
  const cell = cellOf({ body: 1 });
  await reference.put(cell);
  expect(await patientStore(answering(BUFFERED)).put({ ...cell, body: 2 })).toMatchObject({ outcome: 'conflict' });
});

it('a stale answer of the writer is asked for again, and one of a reader is not', async () => {
  const cell = cellOf();
  await reference.put(cell);
  let reads = 0;
  const stale: Datastore = {
    ...reference,
    get: async (...parameters) =>
      (reads += 1) === 1 ? { cell: null, served_by: 'reader', stale: true } : reference.get(...parameters),
  };
  expect(await patientStore(stale).get(cell)).toMatchObject({ stale: false });
  expect(reads).toBe(2);
  reads = 0;
  expect(await patientStore(stale).get(cell, { read: 'reader' })).toMatchObject({ stale: true });
  const behind: Datastore = { ...reference, get: async () => ({ cell: null, served_by: 'reader', stale: true }) };
  expect(await patientStore(behind, 20).get(cell)).toMatchObject({ stale: true });
});
