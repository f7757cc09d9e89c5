import { killWithDisk, stopReceiving } from '../../support/nodes.ts';
import type { Random } from '../../support/random.ts';
import { grouped } from '../../support/text-table.ts';
import type { Aftermath } from '../aftermath.ts';
import type { Written } from '../load/ledger.ts';
import type { Stage } from '../stage.ts';
import { storedLogs, type AckedCell, type StoredLog } from '../stored-cells.ts';
import { onEachGroup, rowsOf, withClient } from '../../support/past-the-store.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient, SqlRow, Target } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';

export interface DiskLoss extends Copies {
  readonly group: string;
  /** The end of the promoted reader's logs: later cells are lost until they are appended again. */
  readonly cut: Heads;
  readonly lostAt: number;
}

export interface DiskLossOptions {
  /** The group whose first reader lags and is promoted, while all others are stopped. */
  readonly group: string;
  readonly random: Random;
  /** How long the reader receives nothing. The drain sees each copy a few times in that time. */
  readonly lagMs: number;
  /** The condition on copies before the disk is lost; waits up to a minute for it. */
  readonly awaits?: (copies: Copies) => boolean;
  /** Called as soon as it is promoted. @default does nothing to it */
  readonly promoted?: () => Promise<void>;
}

const STOPPED_MS = [300, 1200] as const;
const MOST_POLLS = 60;
const POLL_MS = 1000;
const TABLES_MS = 60_000;

/**
 * Stops replication to a group's first reader; then its other readers are stopped with SIGSTOP, the writer dies with
 * its disk, and the lagging reader is promoted. Returns once every node is back.
 */
export async function loseDisk(
  stage: Stage,
  { group: name, random, lagMs, awaits, promoted }: DiskLossOptions,
): Promise<DiskLoss> {
  const { servers, cluster } = stage;
  const { groups } = stage.access;
  const nodes = servers.groups.find((group) => group.name === name)?.nodes ?? [];
  const [lagging, ...others] = nodes.filter(({ role }) => role === 'reader');
  if (!lagging) throw new Error(`${name} has no reader`);
  const position = nodes.indexOf(lagging);
  const pause = (): Promise<void> => stage.wait(random.between(...STOPPED_MS));
  // On a busy machine a stage is loaded before its readers have their tables: such a reader would lack all of them.
  const headsAt = (): Promise<Heads> => withClient(groups, name, (client) => heads(client, { node: position }));
  const hasTables = (): Promise<boolean> =>
    headsAt().then(
      () => true,
      () => false,
    );
  await stage.comes(hasTables, { pollMs: 200, patienceMs: TABLES_MS });
  await stopReceiving(servers, name);
  await stage.wait(lagMs);
  let copies = await copiesOfUnshown(groups, name, position);
  for (let polls = 0; awaits?.(copies) === false && polls < MOST_POLLS; polls++) {
    await stage.wait(POLL_MS);
    copies = await copiesOfUnshown(groups, name, position);
  }
  for (const { node } of others) servers.pause(node);
  await pause();
  const lostAt = Date.now();
  const writer = await killWithDisk(cluster, name);
  const cut = await headsAt();
  await servers.promote(name);
  await promoted?.();
  stage.say(
    `${writer} died with its disk; ${lagging.node} is promoted without the last ${grouped(copies.ahead)} cells or more, ${copies.uncopied} of which had no copy`,
  );
  await pause();
  for (const { node } of others) servers.resume(node);
  await stage.untilAllRun();
  return { ...copies, group: name, cut, lostAt };
}

/** The end of the log that one node shows, for each of its group's shards. */
type Heads = ReadonlyMap<number, number>;

interface Copies {
  /** Cells on the writer that the node lacks. */
  readonly ahead: number;
  /** Those of them without a copy in any buffer table. */
  readonly uncopied: number;
}

/**
 * Compares the cells that a group's writer has, and one of its nodes, which receives nothing, lacks, with the buffer
 * tables of the other groups. The writer is read first: each of its cells was copied before.
 */
async function copiesOfUnshown(groups: readonly GroupAccess[], group: string, node: number): Promise<Copies> {
  const ahead = await withClient(groups, group, async (client) => {
    const shown = await heads(client, { node });
    const perShard = [...shown].map(
      ([shard, head]) => `SELECT ${ADDRESS} FROM ${entityTable(DATASTORE, shard)} WHERE added_id > ${head}`,
    );
    return addresses(await rowsOf(client, perShard.join(' UNION ALL ')));
  });
  const sql = `SELECT ${ADDRESS} FROM \`schemaless\`.buffer WHERE datastore = ?`;
  const others = groups.filter(({ name }) => name !== group);
  const buffered = await onEachGroup(others, async (client) => addresses(await rowsOf(client, sql, [DATASTORE])));
  const copies = new Set(buffered.flat());
  return { ahead: ahead.length, uncopied: ahead.filter((address) => !copies.has(address)).length };
}

const ADDRESS = `CONCAT(HEX(row_key), '/', ref_key, '/', HEX(column_name))`;

function addresses(rows: readonly SqlRow[]): readonly string[] {
  return rows.map(([address]) => String(address));
}

async function heads(client: SqlClient, target: Target): Promise<Heads> {
  const owned = await client.select(
    {
      sql: "SELECT shard FROM `schemaless`.shard WHERE datastore = ? AND state NOT IN ('moved', 'arriving') ORDER BY shard",
      parameters: [DATASTORE],
    },
    target,
  );
  const perShard = owned.map(
    ([shard]) =>
      `SELECT ${toNumber(shard)}, COALESCE(MAX(added_id), 0) FROM ${entityTable(DATASTORE, toNumber(shard))}`,
  );
  const rows = await client.select({ sql: perShard.join(' UNION ALL '), parameters: [] }, target);
  return new Map(rows.map(([shard, head]) => [toNumber(shard), toNumber(head)]));
}

export interface LostAftermath {
  readonly aftermath: Aftermath;
  /** Acknowledged cells with another added id than answered. */
  readonly again: number;
}

/** Inspects as `Stage.inspect`, if cells behind a cut may have been appended again. */
export async function inspectLosses(
  stage: Stage,
  written: Written,
  losses: readonly DiskLoss[],
): Promise<LostAftermath> {
  // `misplaced` judges their positions: the store may have given them new added ids.
  const anywhere = written.acked.map((cell) => ({ ...cell, added_id: 0 }));
  const aftermath = await stage.inspect({ ...written, acked: anywhere });
  const moved = movedCells(written.acked, await storedLogs(stage.access.groups));
  const cuts = new Map(losses.flatMap(({ cut }) => [...cut]));
  const { moved: _moved, ...faults } = aftermath.faults;
  return {
    aftermath: { ...aftermath, faults: { misplaced: misplaced(moved, cuts), ...faults } },
    again: moved.length,
  };
}

/**
 * Counts acknowledged cells with another added id than answered, unless a cut explains it. A cell lost with a disk is
 * appended again behind the cut; cells that the promoted reader had keep their added ids.
 *
 * @param cuts the end of each log that was cut; other shards were not
 */
function misplaced(moved: ReturnType<typeof movedCells>, cuts: Heads): number {
  return moved.filter(
    ({ shard, added_id, there }) => Math.min(added_id, there) <= (cuts.get(shard) ?? Number.POSITIVE_INFINITY),
  ).length;
}

function movedCells(acked: readonly AckedCell[], logs: readonly StoredLog[]) {
  const addedIds = new Map(
    logs.flatMap(({ ids, marks }) => marks.map((mark, position) => [mark, ids[position] ?? 0] as const)),
  );
  return acked
    .map((cell) => ({ ...cell, there: addedIds.get(cell.mark) ?? cell.added_id }))
    .filter(({ added_id, there }) => added_id > 0 && there !== added_id);
}
