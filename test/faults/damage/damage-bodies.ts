import { entityTable } from '../../../shared/sql/names.ts';
import { toBytes, toNumber } from '../../../shared/sql/cell-rows.ts';
import { Random } from '../../support/random.ts';
import { withClient } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';

export interface BodyDamage {
  readonly groups: readonly GroupAccess[];
  readonly shard: number;
  /** Cells, from the first on. */
  readonly count: number;
  readonly seed: string;
}

/**
 * Changes stored bodies past the store, as somebody with too many rights could: a bit, the last byte gone, or one too
 * many.
 */
export async function damageBodies({ groups: [group], shard, count, seed }: BodyDamage): Promise<void> {
  if (!group) throw new Error('wanted a group');
  const random = new Random(seed, 'damaged bodies', shard);
  const table = entityTable(DATASTORE, shard);
  await withClient([group], group.name, async (client) => {
    for (const [id, body] of await client.select(
      { sql: `SELECT added_id, body FROM ${table} ORDER BY added_id LIMIT ?`, parameters: [count] },
      'writer',
    )) {
      await client.change({
        sql: `UPDATE ${table} SET body = ? WHERE added_id = ?`,
        parameters: [damaged(random, Buffer.from(toBytes(body))), toNumber(id)],
      });
    }
  });
}

function damaged(random: Random, body: Buffer): Buffer {
  const draw = random.next();
  if (draw < 0.1) return body.subarray(0, -1);
  if (draw < 0.2) return Buffer.concat([body, Buffer.from([random.integer(0, 255)])]);
  const at = random.integer(0, body.length - 1);
  body[at] = (body[at] ?? 0) ^ (1 << random.integer(0, 7));
  return body;
}
