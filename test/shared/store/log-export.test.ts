import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/cell.ts';
import { gateway } from '../../functions/support/gateway.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const CELLS = 1500;
const SHARDS = 32;
/** Of JSON: three answers and more in all. Some of it deflates well, as most bodies do. */
const BODY_BYTES = 9000;

const { store, trips, name, rowIn } = await sharedTrips(SHARDS, { bufferCopies: 0 });
const rows = Array.from({ length: SHARDS }, (_, shard) => rowIn(shard));
// Shards of very different lengths, one of them empty; a batch is of one shard.
const batches = Array.from({ length: Math.ceil(CELLS / LIMITS.batchCells) }, (_, batch) => {
  const row_key = rows[[batch % (SHARDS - 1), batch % 7, 3][batch % 3] ?? 0] ?? '';
  const count = Math.min(LIMITS.batchCells, CELLS - batch * LIMITS.batchCells);
  return Array.from({ length: count }, (_, position) =>
    cellOf({ row_key, ref_key: batch * LIMITS.batchCells + position }),
  );
});
for (const cells of batches) {
  const results = await trips.batchPut(cells.map((cell) => ({ ...cell, body: bodyOf() })));
  if (results.some(({ outcome }) => outcome !== 'stored')) throw new Error('a cell was not stored');
}

function bodyOf(): string {
  return randomBytes(Math.floor(BODY_BYTES / 8))
    .toString('hex')
    .padEnd(BODY_BYTES, ' on the way');
}

interface Log {
  readonly shard: number;
  readonly cells: readonly { readonly added_id: number }[];
  readonly next: number;
  readonly more: boolean;
}

it('an export by POST /log that follows the answers alone gets every cell of every shard, in order', async () => {
  const ask = gateway({ ...fakeDeployment(), datastore: store.deployment.datastore });
  const next = Array.from({ length: SHARDS }, () => 0);
  let [requests, cells, bytes] = [0, 0, 0];
  for (let open = [...next.keys()]; open.length > 0; requests += 1) {
    const body = JSON.stringify({
      locations: open.map((shard) => ({ shard, after: next[shard] })),
      limit: LIMITS.logCells,
    });
    const answer = await ask({ method: 'POST', path: `/v1/${name}/log`, body });
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeLessThan(LIMITS.answerBytes + open.length * 200);
    const logs = answer.json['logs'] as readonly Log[];
    for (const log of logs) {
      const from = next[log.shard] ?? Number.NaN;
      expect(log.cells.every(({ added_id }, position) => added_id === from + 1 + position)).toBe(true);
      expect(log.next).toBe(from + log.cells.length);
      next[log.shard] = log.next;
      cells += log.cells.length;
    }
    // Every request brings every shard forward that has more: no cell here is larger than a share.
    expect(logs.filter((log) => log.more && log.cells.length === 0)).toEqual([]);
    bytes += answer.text.length;
    open = logs.filter(({ more }) => more).map(({ shard }) => shard);
  }
  expect(cells).toBe(CELLS);
  const heads = await trips.heads();
  expect(next).toEqual(heads.map((head) => (head.error ? Number.NaN : head.head)));
  expect(requests).toBeLessThan(5 + (2 * bytes) / LIMITS.answerBytes + CELLS / LIMITS.logCells);
});
