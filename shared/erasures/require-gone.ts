import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreContext } from '../access/context.ts';
import { nodesOf } from '../access/groups.ts';
import { copyDatabase, shardDatabase, type ErasureTarget } from '../address.ts';
import type { SqlClient } from '../sql/client.ts';
import { isGone } from '../sql/gone.ts';
import { eraseBodies } from '../store/erase-bodies.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import type { ShardHome } from '../topology/topology.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import { NotYet, requireTime, type ErasureWork, type Patience } from './erasure-work.ts';
import { countLeft, toLeft } from './statements/count-left.ts';

interface Gone {
  readonly datastore: string;
  readonly shard: number;
  readonly target: ErasureTarget;
  /** Whether the erasure itself, not a wider one, is in the log. */
  readonly isLogged: boolean;
}

/**
 * Throws `NotYet` while a node that could become the writer shows a body of the target, or lacks the erasure. Erases
 * the bodies of a copy of the shard, and checks it likewise.
 */
export async function requireGone(work: ErasureWork, gone: Gone, patience: Patience): Promise<void> {
  const { groups } = work.context;
  const { datastore, shard, target } = gone;
  const copy = copyDatabase(datastore, shard);
  const eraseCopy = async (client: SqlClient): Promise<void> => {
    await eraseBodies(client, copy, target, undefined, async () => requireTime(patience)).catch((error: unknown) => {
      // The copy is about to be created or dropped.
      if (!isGone(error)) throw error;
    });
  };
  const before = await homeNow(work, gone);
  // First, even if a server of the shard is unavailable: a copy that becomes the shard must not show bodies again.
  if (before.copy) await eraseCopy(await groups.client(before.copy.group));
  await requireGoneFrom(work.context, before.group, shardDatabase(datastore, shard), gone, patience);
  // A move that begins from here on finds no bodies.
  const now = await homeNow(work, gone);
  if (now.group !== before.group) throw new NotYet('the shard is being moved');
  if (!now.copy) return;
  await eraseCopy(await groups.client(now.copy.group));
  await requireGoneFrom(work.context, now.copy.group, copy, gone, patience);
}

/** Reads the shard's group past every cache. */
async function homeNow({ topologyTable }: ErasureWork, { datastore, shard }: Gone): Promise<ShardHome> {
  const home = (await overState(() => readDatastore(topologyTable, datastore)))?.homes[shard];
  if (!home) throw new NotYet('the topology does not say where the shard is');
  return home;
}

async function requireGoneFrom(
  context: StoreContext,
  group: string,
  database: string,
  { target, isLogged }: Gone,
  { pollsMs }: Patience,
): Promise<void> {
  const client = await context.groups.client(group);
  const nodes = await nodesOf(context.topology, group, client);
  const statement = countLeft(database, target);
  for (const pauseMs of pollsMs) {
    await sleep(pauseMs);
    const answers = await Promise.all(nodes.map(async (node) => toLeft(await client.select(statement, node))));
    if (answers.every(({ hasBodies, hasErasure }) => !hasBodies && (hasErasure || !isLogged))) return;
  }
  throw new NotYet(`not every server of ${group} shows that ${database} has none of it any more`);
}
