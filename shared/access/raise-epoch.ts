import { SchemalessError } from '../errors.ts';
import { raiseShardEpoch } from '../sql/statements/raise-shard-epoch.ts';
import { selectShard, toShardRow } from '../sql/statements/select-shard.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import { updateState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { Groups } from './groups.ts';
import type { ShardHome } from '../topology/topology.ts';

interface EpochRaise {
  readonly table: DynamoTable;
  readonly groups: Groups;
  readonly datastore: string;
  readonly shard: number;
}

/**
 * Raises a shard's epoch by one, unless it is above `known`: another raised it for the same reason. Repeatable after a
 * crash.
 *
 * The topology first, then the shard's row: until the row follows, writers of the old epoch go on, and only those that
 * just read the topology are refused and buffered. A crash in between leaves the row behind, which a repetition or
 * `repairEpoch` lifts.
 *
 * @param known the epoch at which the log was last whole, or 0
 * @returns the epoch that holds now
 * @throws SchemalessError `unavailable`, SqlError, or what DynamoDB throws; a repetition finishes it
 */
export async function raiseEpoch(raise: EpochRaise, known: number): Promise<number> {
  const home = await homeNow(raise);
  const client = await raise.groups.client(home.group);
  const row = toShardRow(await client.select(selectShard(raise.datastore, raise.shard), 'writer'));
  if (!row)
    throw new SchemalessError('unavailable', `${home.group} has no row of shard ${raise.shard} of ${raise.datastore}`);
  const highest = Math.max(home.epoch, row.epoch);
  const raisedSince = known > 0 && highest > known;
  const wanted = raisedSince ? highest : Math.max(highest, known) + 1;
  if (wanted > home.epoch && !(await writeEpoch(raise, home.epoch, wanted)))
    return raiseEpoch(raise, known > 0 ? known : home.epoch);
  await client.change(raiseShardEpoch(raise.datastore, raise.shard, wanted));
  return wanted;
}

/** Lifts the epoch of a shard's row to the topology's, behind which a crash or promotion can leave it. */
export async function repairEpoch(raise: Omit<EpochRaise, 'table'>, home: ShardHome): Promise<boolean> {
  const client = await raise.groups.client(home.group);
  const { affectedRows } = await client.change(raiseShardEpoch(raise.datastore, raise.shard, home.epoch));
  return affectedRows > 0;
}

async function homeNow({ table, datastore, shard }: EpochRaise): Promise<ShardHome> {
  const home = (await readDatastore(table, datastore))?.homes[shard];
  if (!home)
    throw new SchemalessError('unavailable', `the topology does not say where shard ${shard} of ${datastore} is`);
  return home;
}

async function writeEpoch({ table, datastore, shard }: EpochRaise, from: number, to: number): Promise<boolean> {
  const written = await updateState(table, {
    key: `datastore#${datastore}`,
    update: `SET #epochs[${shard}] = :to`,
    condition: `#epochs[${shard}] = :from`,
    values: { ':from': { N: String(from) }, ':to': { N: String(to) } },
  });
  return written !== undefined;
}
