import { keepEntries } from '../index/keep-entries.ts';
import type { SqlClient } from '../sql/client.ts';
import { selectBodyHashes, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import { markUndecided } from '../sql/statements/undecided-copies.ts';
import { appendToPrimary } from '../store/append.ts';
import { groupBy, type StoreContext } from '../store/context.ts';
import { copiesByAddress, type Copy, type Holder } from './copies-by-address.ts';
import { decideAddress } from './decide.ts';
import { openRows, type OpenRow } from './open-rows.ts';
import { openOne, waitingBodies, type CopiedBody } from './waiting-bodies.ts';

/** A shard whose writer may lack acknowledged cells. */
export interface BringingBack {
  readonly context: StoreContext;
  readonly writer: SqlClient;
  /** All groups that may hold copies. */
  readonly holders: readonly Holder[];
  readonly datastore: string;
  readonly shard: number;
  /** Whether two bodies of an address have been seen there for longer than a request lives. */
  readonly hasWaited: (address: string) => boolean;
}

/** What was done for a shard. */
export interface BroughtBack {
  appended: number;
  /** Addresses for which two bodies wait that may both have been acknowledged: the shard stays closed. */
  undecided: number;
}

/** Addresses that the writer is asked about together. */
const BATCH = 200;

/**
 * Appends whatever the writer of a shard lacks and somebody may have been told is stored there.
 *
 * A body that cannot be decoded on any group is passed over: nothing can be done for it, the drain sets its copies aside,
 * and an alarm tells.
 *
 * @throws SqlError or SchemalessError when the writer refuses, or it or a group cannot be asked: not everything is there
 */
export async function bringBackShard(work: BringingBack): Promise<BroughtBack> {
  const done: BroughtBack = { appended: 0, undecided: 0 };
  let batch: (readonly [Copy, ...Copy[]])[] = [];
  for await (const copies of copiesByAddress(work.holders, work.datastore, work.shard)) {
    batch.push(copies);
    if (batch.length < BATCH) continue;
    await bringBack(work, batch, done);
    batch = [];
  }
  if (batch.length > 0) await bringBack(work, batch, done);
  return done;
}

async function bringBack(work: BringingBack, addresses: readonly (readonly [Copy, ...Copy[]])[], done: BroughtBack): Promise<void> {
  const { hashes } = toBodyHashes(await work.writer.select(selectBodyHashes(addresses.map(([{ row }]) => row)), 'writer'), addresses.length);
  const lacking: CopiedBody[] = [];
  for (const [place, copies] of addresses.entries()) {
    const isTaken = hashes[place] !== undefined;
    const [{ row }] = copies;
    const bodies = isTaken ? [] : await waitingBodies(copies);
    const decided = decideAddress(isTaken, bodies, bodies.length > 1 && work.hasWaited(`${row.datastore}/${row.row_key}/${row.ref_key}/${row.column_name}`));
    if (decided.action === 'append') lacking.push(decided.body);
    else if (decided.action !== 'leave') done.undecided += 1;
    if (decided.action === 'report') await report(work, copies);
  }
  const opening = groupBy(lacking.flatMap(({ copies }) => copies[0] ?? []), ({ holder }) => holder);
  for (const [holder, copies] of opening) {
    for await (const page of openRows(holder.client, copies.map(({ row }) => row))) {
      const instead = await Promise.all(page.faulty.map(({ row }) => openOne(lacking.find((body) => body.copies[0]?.row.id === row.id && body.copies[0].holder === holder)?.copies.slice(1) ?? [])));
      await append(work, [...page.rows, ...instead.filter((row) => row !== undefined)], done);
    }
  }
}

async function append({ context, datastore, shard }: BringingBack, rows: readonly OpenRow[], done: BroughtBack): Promise<void> {
  if (rows.length === 0) return;
  const results = await appendToPrimary(context, datastore, shard, rows, { anyWriter: true });
  done.appended += results.filter(({ outcome }) => outcome === 'stored').length;
  await keepEntries(context, datastore, rows.filter((_, place) => results[place]?.outcome !== 'conflict'));
}

/** Leaves the address to an operator: its copies are listed, and nothing is done with them until one is chosen. */
async function report({ context, datastore, shard }: BringingBack, copies: readonly [Copy, ...Copy[]]): Promise<void> {
  let marked = 0;
  for (const [{ client }, ofHolder] of groupBy(copies, ({ holder }) => holder)) marked += (await client.change(markUndecided(ofHolder.map(({ row }) => row)))).affectedRows;
  const [{ row: { row_key, column_name, ref_key } }] = copies;
  if (marked > 0) context.report({ kind: 'undecided', datastore, shard, row_key, column_name, ref_key });
}
