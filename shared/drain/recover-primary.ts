import { SchemalessError } from '../errors.ts';
import { SqlError, type Statement } from '../sql/client.ts';
import { forgetWriters, recordWriter } from '../sql/statements/record-writer.ts';
import type { FencedShard } from '../sql/statements/select-fenced-shards.ts';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore } from '../access/groups.ts';
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

export interface RecoveryOptions {
  /** Kept between calls: it tells how long addresses have been undecided. @default they are seen for the first time */
  readonly since?: UndecidedSince;
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
 * there. What was only ever answered `buffered` gives way to it, and is left to the drain. So is a log that was set back
 * in time, with what was drained since, where groups keep that for long enough.
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
  { since = undecidedSince(), topologyTable }: RecoveryOptions = {},
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
  // All nodes had shown what was drained: only where the log itself was set back it may be gone.
  // First, since it brings its times, and none goes back within a log.
  const setBackHolders = [...holders.map((holder): Holder => ({ ...holder, table: 'drained' })), ...holders];
  const look = since.look();
  const recovery = { appended: 0, opened: 0, closed: [] as Recovery['closed'][number][] };
  for (let start = 0; start < fenced.length; start += SHARDS_AT_ONCE) {
    const some = fenced.slice(start, start + SHARDS_AT_ONCE);
    const ends = await Promise.allSettled(
      some.map((one) =>
        whyClosed(
          { context, writer, holders: one.isSetBack ? setBackHolders : holders, look, topologyTable, ...one },
          recovery,
        ),
      ),
    );
    const opened = some.filter(
      (_, position) => ends[position]?.status === 'fulfilled' && ends[position].value === undefined,
    );
    for (const [datastore, ofDatastore] of Map.groupBy(opened, (one) => one.datastore)) {
      await writer.change(
        recordWriter(
          { serverId: some[0]?.serverId ?? 0, alone: writer.abilities.survivesDiskLoss },
          datastore,
          ofDatastore.map(({ shard }) => shard),
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
  look.end();
  return recovery;
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
      return { group, client, table: 'buffer' };
    }),
  );
}

/** Undefined: everything that may have been acknowledged is there. */
async function whyClosed(
  work: BringingBack & Pick<FencedShard, 'isSetBack'> & Pick<RecoveryOptions, 'topologyTable'>,
  recovery: { appended: number },
): Promise<string | undefined> {
  const { context, datastore, shard, isSetBack, topologyTable: table } = work;
  try {
    await mendEpoch(
      { groups: context.groups, datastore, shard },
      homeOf(await requireDatastore(context.topology, datastore), shard),
    );
    const { appended, undecided } = await bringBackShard(work);
    recovery.appended += appended;
    if (isSetBack && table && undecided === 0) await raiseEpoch({ table, groups: context.groups, datastore, shard }, 0);
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
