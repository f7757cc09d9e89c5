import { addressKey, shardDatabase, targetAt } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import { keepEntries } from '../index/keep-entries.ts';
import type { SqlClient } from '../sql/client.ts';
import { selectBodyHashes, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { tableOf } from '../sql/statements/select-unanswered.ts';
import { markUndecided } from '../sql/statements/undecided-copies.ts';
import { appendToPrimary } from '../store/append.ts';
import { eraseBodies } from '../store/erase-bodies.ts';
import { pageBytes } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { decideAddress, thoseThatCount, type CountedCopy } from './decide.ts';
import { isThere, kindOf, ROW_KINDS } from './append-rows.ts';
import { openRows, type OpenRow } from './open-rows.ts';
import { copiesAt, copyPages, mergedPages, type Copy, type Holder } from './unanswered-copies.ts';
import type { UndecidedLook } from './undecided-since.ts';
import { openOne, waitingBodies, type CopiedBody } from './waiting-bodies.ts';

/** A shard whose writer may lack acknowledged cells. */
export interface BringingBack {
  readonly context: StoreContext;
  readonly writer: SqlClient;
  /** The server that is to take appends: what another one shows says nothing of it. */
  readonly serverId: number;
  /** All groups that may hold copies, for each kind that says anything. */
  readonly holders: readonly Holder[];
  readonly datastore: string;
  readonly shard: number;
  readonly look: Pick<UndecidedLook, 'hasWaited'>;
  /** Its log was set back in time. @default false */
  readonly isSetBack?: boolean;
}

interface BroughtBack {
  readonly appended: number;
  /** Addresses for which two bodies wait that may both have been acknowledged: the shard stays closed. */
  readonly undecided: number;
}

interface Done {
  appended: number;
  /** Of those that were fetched so far: how many, and of how many bytes. */
  readonly bodies: { count: number; bytes: number };
  /** An address may come again, with what another group holds. */
  readonly undecided: Set<string>;
}

/** Addresses that the writer is asked about together. */
const BATCH = 200;
/** Cells whose bodies are in memory together while nobody knows how large they are: each of up to a MiB. */
const FEWEST_BODIES = 8;

/**
 * Appends whatever the writer of a shard lacks and somebody may have been told is stored there: each such copy that a
 * group holds is looked for on the writer, and only where it has no cell all groups are asked what they hold for
 * the address. What was drained comes first, in the order in which it came to the groups.
 *
 * A body that cannot be decoded on any group is passed over: nothing can be done for it, the drain sets its copies
 * aside, and an alarm tells.
 *
 * @throws SqlError or SchemalessError when the writer refuses, is another server by now, or it or a group cannot be
 *   asked: not everything is there
 */
export async function bringBackShard(work: BringingBack): Promise<BroughtBack> {
  const { datastore, shard, holders } = work;
  const done: Done = { appended: 0, bodies: { count: 0, bytes: 0 }, undecided: new Set() };
  const ofKind = (kind: Holder['kind']): readonly Holder[] => holders.filter((holder) => holder.kind === kind);
  for await (const rows of mergedPages(ofKind('drained'), datastore, shard)) await bringBack(work, rows, done);
  for (const holder of [...ofKind('unanswered'), ...ofKind('answered')]) {
    for await (const rows of copyPages(holder, datastore, shard)) {
      for (let start = 0; start < rows.length; start += BATCH)
        await bringBack(work, rows.slice(start, start + BATCH), done);
    }
  }
  return { appended: done.appended, undecided: done.undecided.size };
}

async function bringBack(work: BringingBack, rows: readonly WaitingRow[], done: Done): Promise<void> {
  const missing = await missingOnWriter(work, [...new Map(rows.map((row) => [addressKey(row), row])).values()]);
  if (missing.length === 0) return;
  const bodies: CopiedBody[] = [];
  const found = await copiesAt(work.holders, work.datastore, missing);
  for (const address of missing.map(addressKey)) {
    const copies = found.get(address) ?? [];
    const waiting = await waitingBodies(thoseThatCount(copies.map(toCounted)).map(({ copy }) => copy));
    const decided = decideAddress(waiting, waiting.length > 1 && haveWaited(work, address, waiting));
    if (decided.action === 'append') bodies.push(decided.body);
    else if (decided.action !== 'leave') done.undecided.add(address);
    if (decided.action === 'report') await report(work, copies);
  }
  for (let start = 0; start < bodies.length;) {
    const some = bodies.slice(start, start + bodiesTogether(work, done));
    await appendBodies(work, some, done);
    start += some.length;
  }
}

/** As many as fill a page, as large as they were so far. */
function bodiesTogether({ writer }: BringingBack, { bodies: { count, bytes } }: Done): number {
  return count === 0 ? FEWEST_BODIES : Math.max(FEWEST_BODIES, Math.floor((pageBytes(writer) * count) / (bytes + 1)));
}

function toCounted(copy: Copy): CountedCopy & { readonly copy: Copy } {
  return { copy, body: Buffer.from(copy.row.body_hash).toString('hex'), kind: copy.holder.kind };
}

/** Whether each of them has; each is looked at, so that its time begins. */
function haveWaited({ datastore, look }: BringingBack, address: string, bodies: readonly CopiedBody[]): boolean {
  return (
    bodies.filter(({ copies: [{ row }] }) => look.hasWaited(`${datastore}/${address}`, row.body_hash)).length ===
    bodies.length
  );
}

/** Those at whose addresses the writer has no cell. */
async function missingOnWriter(
  { writer, serverId, datastore, shard }: BringingBack,
  rows: readonly WaitingRow[],
): Promise<WaitingRow[]> {
  const shown = toBodyHashes(await writer.select(selectBodyHashes(rows), 'writer'), [rows]);
  if (shown.writer !== serverId)
    throw new SchemalessError(
      'unavailable',
      `shard ${shard} of ${datastore}: server ${serverId} is not the writer any more`,
    );
  return rows.filter((_, position) => shown.hashes[0]?.[position] === undefined);
}

/**
 * In the order of the bodies, each from the first group that holds a copy, or from another one where that does not have
 * it any more, or has damaged it.
 *
 * @param bodies few: they are in memory together
 * @throws SchemalessError where a body is gone from all: whether it was drained, or whoever answered lacks it, a new
 *   look tells
 */
async function appendBodies(work: BringingBack, bodies: readonly CopiedBody[], done: Done): Promise<void> {
  const opened = new Map<string, OpenRow>();
  const faulty = new Set<string>();
  for (const [holder, ofHolder] of Map.groupBy(bodies, ({ copies: [{ holder }] }) => holder)) {
    const rows = ofHolder.map(({ copies: [{ row }] }) => row);
    for await (const page of openRows(holder.client, rows, tableOf(holder.kind))) {
      for (const row of page.rows) opened.set(addressKey(row), row);
      for (const { row } of page.faulty) faulty.add(addressKey(row));
    }
  }
  let gone: string | undefined;
  let page: OpenRow[] = [];
  let bytes = 0;
  for (const { copies } of bodies) {
    const address = addressKey(copies[0].row);
    const row = opened.get(address) ?? (await openOne(copies.slice(1)));
    if (!row) {
      if (!faulty.has(address)) gone = address;
      continue;
    }
    page.push(row);
    bytes += row.encoded.length;
    done.bodies.count += 1;
    done.bodies.bytes += row.encoded.length;
    if (bytes < pageBytes(work.writer)) continue;
    await append(work, page, done);
    [page, bytes] = [[], 0];
  }
  await append(work, page, done);
  if (gone !== undefined)
    throw new SchemalessError(
      'unavailable',
      `shard ${work.shard} of ${work.datastore}: copies of ${gone} went away meanwhile`,
    );
}

/**
 * Where the log was set back, what is brought back of erasures is done at once: their records say that they are done, and
 * the bodies have come back. What indexes have of them goes with the comparison that a set-back log is followed by.
 * Elsewhere they are not done yet, and whoever goes on with them has to find the bodies to know what indexes have.
 */
async function append(
  { context, writer, datastore, shard, isSetBack = false }: BringingBack,
  rows: readonly OpenRow[],
  done: Done,
): Promise<void> {
  for (const kind of ROW_KINDS) {
    const alike = rows.filter((row) => kindOf(row) === kind);
    if (alike.length === 0) continue;
    const { results } = await appendToPrimary(context, datastore, shard, alike, { anyWriter: true });
    done.appended += results.filter(({ outcome }) => outcome === 'stored').length;
    const there = alike.filter((_, position) => isThere(results[position]));
    const targets = isSetBack ? there.flatMap((row) => targetAt(row) ?? []) : [];
    for (const target of targets) await eraseBodies(writer, shardDatabase(datastore, shard), target);
    await keepEntries(context, datastore, there);
  }
}

/**
 * Leaves the address to an operator: its copies are listed, and nothing is done with them until one is chosen. Two that
 * were drained cannot be listed: each look tells of them.
 */
async function report({ context, datastore, shard }: BringingBack, copies: readonly Copy[]): Promise<void> {
  const [first] = copies;
  let marked = 0;
  for (const [{ client, kind }, ofHolder] of Map.groupBy(copies, ({ holder }) => holder))
    if (kind === 'unanswered')
      marked += (await client.change(markUndecided(ofHolder.map(({ row }) => row)))).affectedRows;
  const areListed = !copies.some(({ holder }) => holder.kind === 'drained');
  if (!first || (areListed && marked === 0)) return;
  const { row_key, column_name, ref_key } = first.row;
  context.report({ kind: 'undecided', datastore, shard, row_key, column_name, ref_key });
}
