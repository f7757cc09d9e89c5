import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { capacityFor } from '../../../infra/capacity/capacity.ts';
import { loadOn } from '../../../infra/capacity/load.ts';
import { CHECKPOINTS_ITEM, MARKS_ITEM } from '../../../infra/capacity/state-table.ts';
import { ENVIRONMENTS } from '../../../infra/environments.ts';
import { encodeCheckpoints } from '../../../shared/follow/encode-offsets.ts';
import { pack } from '../../../shared/dynamo/change-item.ts';

const FINGERPRINT = 'ff'.repeat(8);
const SHARDS = 64;
/** As many cells as a shard of a hundred thousand writes a second has after two months. */
const MANY = 2 ** 28 - 2;

const stateAt = (writes: number) => capacityFor(loadOn(ENVIRONMENTS.prod, 4096, writes)).state;

describe('what is asked of DynamoDB', () => {
  it('counts with items as large as they are written', () => {
    const checkpoints = encodeCheckpoints(
      Array.from({ length: SHARDS }, () =>
        Array.from({ length: CHECKPOINTS_ITEM.ofAShard }, (_, position) => ({
          added_id: (position + 1) * 100_000,
          fingerprint: FINGERPRINT,
        })),
      ),
    );
    expect(checkpoints.length).toBeLessThanOrEqual(
      SHARDS * (CHECKPOINTS_ITEM.ofAShard * CHECKPOINTS_ITEM.bytes + 1) + 1,
    );
  });

  it('counts what consumers note of the shards with items as large as they are written', () => {
    const marks = Array.from({ length: SHARDS }, (_, shard) => [
      shard,
      3,
      MANY - shard * 1_000_003,
      createHash('sha256').update(String(shard)).digest('hex').slice(0, 16),
      0,
    ]);
    expect(pack(marks).length).toBeLessThanOrEqual(SHARDS * MARKS_ITEM.ofAShard);
    expect(pack(marks).length).toBeGreaterThan(SHARDS * MARKS_ITEM.ofAShard * 0.7);
  });

  it('writes partitions every few seconds, and not once a cell', () => {
    const atRest = stateAt(0).writes;
    // A cell now and then is a commit each.
    expect(stateAt(0.01).writes - atRest).toBeLessThan(0.5);
    expect(stateAt(1000).writes - atRest).toBeLessThan(500);
  });
});
