import { SchemalessError } from '../errors.ts';
import { SqlError, type Statement } from '../sql/client.ts';
import { forgetWriters, NOBODY, recordWriter, SET_BACK } from '../sql/statements/record-writer.ts';
import type { FencedShard } from '../sql/statements/select-fenced-shards.ts';
import type { CopyKind } from '../sql/statements/select-unanswered.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore, sharesStorage } from '../access/groups.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { mendEpoch, raiseEpoch } from '../access/raise-epoch.ts';
import { bringBackShard, type BringingBack } from './bring-back-shard.ts';
import { fencedShards } from './fenced-shards.ts';
import type { Holder } from './unanswered-copies.ts';
import { undecidedSince, type UndecidedSince } from './undecided-since.ts';

/** What was done for a group whose writer may have lacked acknowledged cells. */
export interface Recovery {
  /** Cells brought back. */
  readonly appended: number;
  /** Shards that take appends again. */
  readonly opened: number;
  /** Shards that do not, and why not. */
  readonly closed: readonly { readonly datastore: string; readonly shard: number; readonly reason: string }[];
}

interface RecoveryOptions {
  /** Kept between calls: it tells how long addresses have been undecided. @default they are seen for the first time */
  readonly since?: UndecidedSince;
  /** Once it comes no more shards are begun: a successor goes on with those. */
  readonly signal?: AbortSignal;
  /**
   * Where the epochs of shards whose logs were set back are raised, so that every index is compared with what is left,
   * also where none of their cells was lost. @default by who follows their logs alone, and finds them cut
   */
  readonly topologyTable?: DynamoTable | undefined;
}

/** Shards worked on side by side. */
const SHARDS_AT_ONCE = 8;

/**
 * Brings back what a group's new writer lacks: a reader that was promoted without the last cells takes no appends to a
 * shard until every other group's copies of it were looked through, and what somebody may have been told is stored is
 * there. What was only ever answered `buffered` gives way to it, and is left to the drain. A log that was set back in
 * time gets back what was drained since, too, where groups keep that for long enough.
 *
 * The shard's epoch is lifted to the topology's first: where the server lacks that, too, it refuses what is brought
 * back, and followers, who lift it where they find cells, find none in a log that has lost all of its own.
 *
 * Shard by shard: one whose table refuses an append, or with an address where two bodies may have been acknowledged,
 * stays closed, writes to it are buffered, and the others go on. Can be repeated after a crash anywhere in between, and
 * done by several at once: an append leaves out what is there.
 *
 * Which groups there are is read past the cache: copies may lie on one that was added a moment ago.
 *
 * @returns undefined when the writer is known to have all cells of all its shards
 * @throws SqlError or SchemalessError when the writer, or a group that may hold copies, cannot be asked: whatever was
 *   not looked through stays closed
 */
export async function recoverPrimary(
  context: StoreContext,
  primary: string,
  { since = undecidedSince(), topologyTable, signal }: RecoveryOptions = {},
): Promise<Recovery | undefined> {
  const writer = await context.groups.client(primary);
  const fenced = await fencedShards(context, primary);
  if (fenced.length === 0) return undefined;
  for (const [datastore, some] of Map.groupBy(
    fenced.filter(({ hasWriter }) => hasWriter),
    (one) => one.datastore,
  ))
    await writer.change(
      forgetWriters(
        datastore,
        some.map(({ shard }) => shard),
      ),
    );
  const holders = await openHolders(context, primary);
  const setBackHolders = COPIES_OF_SET_BACK.flatMap((kind) => holders.map((holder): Holder => ({ ...holder, kind })));
  const isStorageShared = await sharesStorage(context.topology, primary);
  const raising = topologyTable && fenced.some(({ isSetBack }) => isSetBack) ? epochsNow(topologyTable) : undefined;
  const look = since.look();
  const recovery = { appended: 0, opened: 0, closed: [] as Recovery['closed'][number][] };
  for (let start = 0; start < fenced.length; start += SHARDS_AT_ONCE) {
    if (signal?.aborted) break;
    const some = fenced.slice(start, start + SHARDS_AT_ONCE);
    const ends = await Promise.allSettled(
      some.map((one) => {
        const work = { context, writer, holders: one.isSetBack ? setBackHolders : holders, look, ...one };
        return whyClosed(work, one.isSetBack ? raising : undefined, recovery);
      }),
    );
    const opened = some.filter(
      (_, position) => ends[position]?.status === 'fulfilled' && ends[position].value === undefined,
    );
    for (const ofAlike of Map.groupBy(opened, ({ datastore, isSetBack }) => `${datastore}/${isSetBack}`).values()) {
      const [{ datastore, serverId, isSetBack } = { datastore: '', serverId: 0, isSetBack: false }] = ofAlike;
      const recorded = { serverId, instead: isSetBack ? SET_BACK : NOBODY, isStorageShared };
      await writer.change(
        recordWriter(
          recorded,
          datastore,
          ofAlike.map(({ shard }) => shard),
        ),
      );
    }
    recovery.opened += opened.length;
    for (const [position, end] of ends.entries()) {
      if (end.status === 'rejected') throw end.reason;
      const { datastore, shard } = some[position] as FencedShard;
      if (end.value !== undefined) recovery.closed.push({ datastore, shard, reason: end.value });
    }
  }
  // Who appends by the epochs of before is refused, this very process among them.
  if (raising) context.topology.refresh();
  look.end();
  return recovery;
}

/**
 * All nodes had shown what was drained, and may have shown what was answered `buffered`: only where the log itself was
 * set back it may be gone.
 */
const COPIES_OF_SET_BACK = ['drained', 'unanswered', 'answered'] as const satisfies readonly CopyKind[];

/** Raises epochs from those that held when the first was raised: two recoveries side by side raise most of them once. */
interface EpochsNow {
  raise(context: StoreContext, datastore: string, shard: number): Promise<void>;
}

function epochsNow(table: DynamoTable): EpochsNow {
  const known = new Map<string, Promise<DatastoreTopology | undefined>>();
  return {
    async raise({ groups }, datastore, shard) {
      let topology = known.get(datastore);
      if (!topology) known.set(datastore, (topology = readDatastore(table, datastore)));
      try {
        await raiseEpoch({ table, groups, datastore, shard }, (await topology)?.homes[shard]?.epoch ?? 0);
      } catch (error) {
        if (error instanceof SqlError || error instanceof SchemalessError) throw error;
        // Of DynamoDB: the shard stays closed until it answers, and no other group's drain ends for it.
        throw new SchemalessError('unavailable', `its epoch cannot be raised: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
  };
}

const SIGN_OF_LIFE: Statement = { sql: 'SELECT 1', parameters: [] };

/** All groups that may hold copies. While one cannot be asked nothing can be opened, so that nothing is read either. */
async function openHolders({ groups }: StoreContext, primary: string): Promise<Holder[]> {
  const names = await groups.namesNow();
  // A list that lacks the group itself may lack any: who holds copies is not known.
  if (!names.includes(primary))
    throw new SchemalessError('unavailable', `group ${primary} is not described by the topology`);
  const others = names.filter((group) => group !== primary);
  return Promise.all(
    others.map(async (group): Promise<Holder> => {
      const client = await groups.client(group);
      await client.select(SIGN_OF_LIFE, 'writer');
      return { group, client, kind: 'unanswered' };
    }),
  );
}

/** Undefined: everything that may have been acknowledged is there. */
async function whyClosed(
  work: BringingBack,
  raising: EpochsNow | undefined,
  recovery: { appended: number },
): Promise<string | undefined> {
  const { context, datastore, shard } = work;
  try {
    await mendEpoch(
      { groups: context.groups, datastore, shard },
      homeOf(await requireDatastore(context.topology, datastore), shard),
    );
    const { appended, undecided } = await bringBackShard(work);
    recovery.appended += appended;
    if (undecided === 0) await raising?.raise(context, datastore, shard);
    return undecided === 0 ? undefined : `${undecided} addresses have two bodies that may have been acknowledged`;
  } catch (error) {
    // Who cannot be reached is not asked about the next shard either; anything else may be for this shard alone.
    if (
      error instanceof SchemalessError ||
      (error instanceof SqlError && (error.failure !== 'unreachable' || error.poolExhausted))
    )
      return error.message;
    throw error;
  }
}
