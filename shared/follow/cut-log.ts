import { SchemalessError } from '../errors.ts';
import { selectLogEntriesAt, toShardLogEntries } from '../sql/statements/select-log-entries.ts';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore } from '../access/groups.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { raiseEpoch } from '../access/raise-epoch.ts';
import { type Checkpoint, type ShardOffset, fingerprintOf, UNKNOWN_FINGERPRINT } from './offsets.ts';

interface SuspectedLog {
  readonly datastore: string;
  readonly shard: number;
  readonly offset: ShardOffset;
  readonly checkpoints: readonly Checkpoint[];
}

/**
 * Decides on the writer whether a shard's last cells are gone. Returns undefined if it still has the cell at the
 * offset. Otherwise raises the shard's epoch once for each cut, and returns the newest checkpoint whose cell is still
 * there, or the start. The caller commits the offset afterwards; a crash in between repeats this. Throws what MySQL or
 * DynamoDB throw: the shard waits.
 */
export async function findCut(
  context: StoreContext,
  topologyTable: DynamoTable,
  { datastore, shard, offset, checkpoints }: SuspectedLog,
): Promise<ShardOffset | undefined> {
  context.topology.refresh();
  const { group } = homeOf(await requireDatastore(context.topology, datastore), shard);
  const client = await context.groups.client(group);
  const earlier = checkpoints.filter(({ added_id }) => added_id < offset.added_id);
  const rows = await client.select(
    selectLogEntriesAt(datastore, shard, [offset.added_id, ...earlier.map(({ added_id }) => added_id)]),
    'writer',
  );
  const [{ entries, epoch } = { entries: [], epoch: undefined }] = toShardLogEntries(rows, 1);
  if (entries.length > 0 && epoch === undefined)
    throw new SchemalessError('unavailable', `${group} does not own shard ${shard} of ${datastore}`);
  const there = new Map(entries.map((entry) => [entry.added_id, fingerprintOf(entry)]));
  const at = there.get(offset.added_id);
  if (at !== undefined && (at === offset.fingerprint || offset.fingerprint === UNKNOWN_FINGERPRINT)) return undefined;
  const match = earlier.findLast(({ added_id, fingerprint }) => there.get(added_id) === fingerprint);
  const raised = await raiseEpoch({ table: topologyTable, groups: context.groups, datastore, shard }, offset.epoch);
  context.topology.refresh();
  return { added_id: match?.added_id ?? 0, fingerprint: match?.fingerprint ?? '', epoch: raised };
}
