import { SchemalessError } from '../errors.ts';
import { HEALTH_CHECK, SqlError } from '../sql/client.ts';
import { forgetWriters, NOBODY, recordWriter, RESTORED } from '../sql/statements/record-writer.ts';
import type { FencedShard } from '../sql/statements/select-fenced-shards.ts';
import type { CopyKind } from '../sql/statements/select-unanswered.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore, sharesStorage } from '../access/groups.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { repairEpoch, raiseEpoch } from '../access/raise-epoch.ts';
import { bringBackShard, type BringingBack, inDoubtSince, type InDoubtSince } from './bring-back-shard.ts';
import { fencedShards } from './fenced-shards.ts';
import type { HintHolder } from './unanswered-copies.ts';
import { slicesOf } from '../slices-of.ts';

export interface Recovery {
  readonly appended: number;
  readonly opened: number;
  readonly closed: readonly { readonly datastore: string; readonly shard: number; readonly reason: string }[];
}

interface RecoveryOptions {
  /** Kept between calls: the times since when addresses are in doubt. */
  readonly since?: InDoubtSince;
  readonly signal?: AbortSignal;
  /** Gets the raised epochs of restored shards, so that every index is verified even if no cell was lost. */
  readonly topologyTable?: DynamoTable | undefined;
}

const SHARDS_AT_ONCE = 8;

/**
 * Restores cells that a group's new writer lacks. A reader promoted without the last cells takes no appends to a shard
 * at first. All other groups' hints of the shard are checked, and cells that may have been acknowledged restored. The
 * drain handles hints answered `buffered`. A log restored to a point in time gets back drained hints too.
 *
 * - The shard's epoch is first raised to the topology's, or the append would be refused.
 * - A shard that refuses, or has an address in doubt, stays closed; the others continue.
 * - Repeatable after a crash, and safe in parallel: an append leaves out existing cells.
 * - Groups and homes are read past the cache: a group added a moment ago may hold hints, and a shard that moved away
 *   must not be opened here.
 *
 * @returns undefined when the writer is known to have all cells
 * @throws SqlError or SchemalessError if the writer or a group cannot be asked; unchecked shards stay closed
 */
export async function recoverPrimary(
  context: StoreContext,
  primary: string,
  { since = inDoubtSince(), topologyTable, signal }: RecoveryOptions = {},
): Promise<Recovery | undefined> {
  const writer = await context.groups.client(primary);
  if ((await fencedShards(context, primary)).length === 0) return undefined;
  await context.topology.renew();
  const fenced = await fencedShards(context, primary);
  if (fenced.length === 0) return undefined;
  const others = fenced.filter(({ hasWriter }) => hasWriter);
  for (const [datastore, some] of Map.groupBy(others, (one) => one.datastore))
    await writer.change(forgetWriters(datastore, shardsOf(some)));
  const hintHolders = await openHintHolders(context, primary);
  const restoredHolders = COPIES_OF_RESTORED.flatMap((kind) =>
    hintHolders.map((hintHolder): HintHolder => ({ ...hintHolder, kind })),
  );
  const isStorageShared = await sharesStorage(context.topology, primary);
  const raising = topologyTable && fenced.some(({ isRestored }) => isRestored) ? epochsNow(topologyTable) : undefined;
  const poll = since.poll();
  const recovery = { appended: 0, opened: 0, closed: [] as Recovery['closed'][number][] };
  for (const some of slicesOf(fenced, SHARDS_AT_ONCE)) {
    if (signal?.aborted) break;
    const ends = await Promise.allSettled(
      some.map((one) => {
        const work = { context, writer, hintHolders: one.isRestored ? restoredHolders : hintHolders, poll, ...one };
        return whyClosed(work, one.isRestored ? raising : undefined, recovery);
      }),
    );
    const opened = some.filter(
      (_, position) => ends[position]?.status === 'fulfilled' && ends[position].value === undefined,
    );
    for (const ofAlike of Map.groupBy(opened, ({ datastore, isRestored }) => `${datastore}/${isRestored}`).values()) {
      const [{ datastore, serverId, isRestored } = { datastore: '', serverId: 0, isRestored: false }] = ofAlike;
      const recorded = { serverId, instead: isRestored ? RESTORED : NOBODY, isStorageShared };
      await writer.change(recordWriter(recorded, datastore, shardsOf(ofAlike)));
    }
    recovery.opened += opened.length;
    for (const [position, end] of ends.entries()) {
      if (end.status === 'rejected') throw end.reason;
      const { datastore, shard } = some[position] as FencedShard;
      if (end.value !== undefined) recovery.closed.push({ datastore, shard, reason: end.value });
    }
  }
  // Appends of older epochs are refused, those of this process too.
  if (raising) context.topology.refresh();
  poll.end();
  return recovery;
}

/** Only a restored log may lack drained and answered hints, which all nodes had shown. */
const COPIES_OF_RESTORED = ['drained', 'unanswered', 'answered'] as const satisfies readonly CopyKind[];

function shardsOf(some: readonly FencedShard[]): readonly number[] {
  return some.map(({ shard }) => shard);
}

/** Raises a shard's epoch from that at the first raise, so that concurrent recoveries raise most of them once. */
type RaiseEpoch = (context: StoreContext, datastore: string, shard: number) => Promise<void>;

function epochsNow(table: DynamoTable): RaiseEpoch {
  const known = new Map<string, Promise<DatastoreTopology | undefined>>();
  return async ({ groups }, datastore, shard) => {
    let topology = known.get(datastore);
    if (!topology) known.set(datastore, (topology = readDatastore(table, datastore)));
    try {
      await raiseEpoch({ table, groups, datastore, shard }, (await topology)?.homes[shard]?.epoch ?? 0);
    } catch (error) {
      if (error instanceof SqlError || error instanceof SchemalessError) throw error;
      // The shard stays closed until DynamoDB answers; no other group's drain ends for it.
      const message = `its epoch cannot be raised: ${(error as Error).message}`;
      throw new SchemalessError('unavailable', message, { cause: error });
    }
  };
}

/** Returns all groups that may hold hints. If one cannot be asked nothing can be opened. */
async function openHintHolders({ groups }: StoreContext, primary: string): Promise<HintHolder[]> {
  const names = await groups.namesNow();
  // A list without the group itself may lack any other.
  if (!names.includes(primary))
    throw new SchemalessError('unavailable', `group ${primary} is not described by the topology`);
  const others = names.filter((group) => group !== primary);
  return Promise.all(
    others.map(async (group): Promise<HintHolder> => {
      const client = await groups.client(group);
      await client.select(HEALTH_CHECK, 'writer');
      return { client, kind: 'unanswered' };
    }),
  );
}

async function whyClosed(
  work: BringingBack,
  raising: RaiseEpoch | undefined,
  recovery: { appended: number },
): Promise<string | undefined> {
  const { context, datastore, shard } = work;
  try {
    await repairEpoch(
      { groups: context.groups, datastore, shard },
      homeOf(await requireDatastore(context.topology, datastore), shard),
    );
    const { appended, inDoubt } = await bringBackShard(work);
    recovery.appended += appended;
    if (inDoubt === 0) await raising?.(context, datastore, shard);
    return inDoubt === 0 ? undefined : `${inDoubt} addresses have two bodies that may have been acknowledged`;
  } catch (error) {
    // An unreachable group is asked about no further shard; any other error may be this shard's alone.
    if (
      error instanceof SchemalessError ||
      (error instanceof SqlError && (error.failure !== 'unreachable' || error.poolExhausted))
    )
      return error.message;
    throw error;
  }
}
