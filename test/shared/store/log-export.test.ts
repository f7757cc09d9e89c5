import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/cell.ts';
import { gateway } from '../../functions/support/gateway.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';

/** `SCHEMALESS_EXPORT_CELLS=100000 npx vitest run test/shared/store/log-export.test.ts` exports as many. */
const CELLS = Number(process.env['SCHEMALESS_EXPORT_CELLS'] ?? 3000);
const SHARDS = 32;
/** Of JSON in all at least: many answers. */
const BYTES = 18_000_000;
/** A body's: some of it deflates well, as most bodies do. */
const BODY_BYTES = Math.max(300, Math.floor(BYTES / CELLS));
const AT_ONCE = 3;
const TIME_LIMIT_MS = 20_000 + CELLS * 10;

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
for (let from = 0; from < batches.length; from += AT_ONCE) {
  const some = batches.slice(from, from + AT_ONCE);
  const results = await Promise.all(
    some.map((cells) => trips.batchPut(cells.map((cell) => ({ ...cell, body: bodyOf() })))),
  );
  if (results.flat().some(({ outcome }) => outcome !== 'stored')) throw new Error('a cell was not stored');
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

describe('an export by POST /log that follows nothing but the answers', () => {
  it(
    'gets every cell of every shard, in order, with the largest limits',
    async () => {
      const ask = gateway({ ...fakeDeployment(), datastore: store.deployment.datastore });
      const next = Array.from({ length: SHARDS }, () => 0);
      const begun = performance.now();
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
        // Every request brings everybody forward who has more: no cell here is larger than a share.
        expect(logs.filter((log) => log.more && log.cells.length === 0)).toEqual([]);
        bytes += answer.text.length;
        open = logs.filter(({ more }) => more).map(({ shard }) => shard);
      }
      const seconds = (performance.now() - begun) / 1000;
      console.log(
        `Exported ${cells} of ${CELLS} cells of ${SHARDS} shards by POST /log: ${requests} requests, ${(bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(1)} s`,
      );
      expect(cells).toBe(CELLS);
      const heads = await trips.heads();
      expect(next).toEqual(heads.map((head) => (head.error ? Number.NaN : head.head)));
      expect(requests).toBeLessThan(5 + (2 * bytes) / LIMITS.answerBytes + CELLS / LIMITS.logCells);
    },
    TIME_LIMIT_MS,
  );
});
