import { addressKey, shardDatabase, targetAt } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import { maintainEntries } from '../index/maintain-entries.ts';
import type { SqlClient } from '../sql/client.ts';
import { markShown } from '../sql/statements/change-buffered.ts';
import { selectBodyHashes, toBodyHashes } from '../sql/statements/select-body-hashes.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { tableOf } from '../sql/statements/select-unanswered.ts';
import { markInDoubt } from '../sql/statements/copies-in-doubt.ts';
import { appendToPrimary } from '../store/append.ts';
import { appendWhole } from '../store/append-transaction.ts';
import { eraseBodies } from '../store/erase-bodies.ts';
import { pageBytes } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { thoseThatCount, type CountedCopy } from './decide.ts';
import { isThere, kindOf, ROW_KINDS } from './append-rows.ts';
import { openRows, type OpenRow } from './open-rows.ts';
import {
  copiesAt,
  copyPages,
  mergedPages,
  type Copy,
  type HintHolder,
  openOne,
  waitingBodies,
  type CopiedBody,
} from './unanswered-copies.ts';
import { positionOf, transactionName, transactionRows, unmarkedCells } from './transaction-rows.ts';
import { slicesOf } from '../slices-of.ts';

export interface BringingBack {
  readonly context: StoreContext;
  readonly writer: SqlClient;
  /** The server that is to take appends: another one's answers do not count. */
  readonly serverId: number;
  /** All groups that may hold hints, for each kind that counts. */
  readonly hintHolders: readonly HintHolder[];
  readonly datastore: string;
  readonly shard: number;
  readonly poll: Pick<ReturnType<InDoubtSince['poll']>, 'hasWaited'>;
  readonly isRestored?: boolean;
}

interface Done {
  appended: number;
  readonly bodies: { count: number; bytes: number };
  readonly inDoubt: Set<string>;
  /** The transactions already handled, by `transactionName`. */
  readonly transactions: Set<string>;
}

const BATCH = 200;
/** Bodies of unknown size held in memory at once, each of up to a MiB. */
const FEWEST_BODIES = 8;

/**
 * Appends cells that the writer of a shard lacks and that may be acknowledged. Each hint is checked on the writer; only
 * if it has no cell there, all groups are asked about the address. Drained hints come first, in order. A body that no
 * group can decode is passed over: the drain parks its hints, and an alarm tells. Returns how many
 * cells were appended, and how many addresses are `inDoubt`: each has two bodies that may both have been acknowledged,
 * and its shard stays closed. Throws SqlError or SchemalessError when the writer refuses or has changed, or when it or
 * a group cannot be asked: not everything is there.
 */
export async function bringBackShard(work: BringingBack) {
  const { datastore, shard, hintHolders } = work;
  const done: Done = { appended: 0, bodies: { count: 0, bytes: 0 }, inDoubt: new Set(), transactions: new Set() };
  const ofKind = (kind: HintHolder['kind']): readonly HintHolder[] =>
    hintHolders.filter((hintHolder) => hintHolder.kind === kind);
  for await (const rows of mergedPages(ofKind('drained'), datastore, shard)) await bringBack(work, rows, done);
  for (const hintHolder of [...ofKind('unanswered'), ...ofKind('answered')]) {
    for await (const rows of copyPages(hintHolder, datastore, shard))
      for (const some of slicesOf(rows, BATCH)) await bringBack(work, some, done);
  }
  return { appended: done.appended, inDoubt: done.inDoubt.size };
}

/**
 * Decides on addresses at which the writer shows none. Never chooses between two bodies: the first may be of a writer
 * that died before its append, and the other acknowledged. An operator has to, once their writes have ended.
 */
async function bringBack(work: BringingBack, rows: readonly WaitingRow[], done: Done): Promise<void> {
  const missing = await missingOnWriter(work, [...new Map(rows.map((row) => [addressKey(row), row])).values()]);
  if (missing.length === 0) return;
  const bodies: CopiedBody[] = [];
  const found = await copiesAt(work.hintHolders, work.datastore, missing);
  for (const address of missing.map(addressKey)) {
    const copies = found.get(address) ?? [];
    const waiting = await waitingBodies(thoseThatCount(copies.map(toCounted)).map(({ copy }) => copy));
    if (waiting.length < 2) bodies.push(...waiting);
    else {
      done.inDoubt.add(address);
      if (haveWaited(work, address, waiting)) await report(work, copies);
    }
  }
  for (let start = 0; start < bodies.length;) {
    const some = bodies.slice(start, start + bodiesOfABatch(work, done));
    await appendBodies(work, some, done);
    start += some.length;
  }
}

/** Returns how many bodies fill a page, at their average size so far. */
function bodiesOfABatch({ writer }: BringingBack, { bodies: { count, bytes } }: Done): number {
  return count === 0 ? FEWEST_BODIES : Math.max(FEWEST_BODIES, Math.floor((pageBytes(writer) * count) / (bytes + 1)));
}

function toCounted(copy: Copy): CountedCopy & { readonly copy: Copy } {
  return { copy, body: Buffer.from(copy.row.body_hash).toString('hex'), kind: copy.hintHolder.kind };
}

/** Whether each has waited; asking for each starts its time. */
function haveWaited({ datastore, poll }: BringingBack, address: string, bodies: readonly CopiedBody[]): boolean {
  return (
    bodies.filter(({ copies: [{ row }] }) => poll.hasWaited(`${datastore}/${address}`, row.body_hash)).length ===
    bodies.length
  );
}

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

/** Appends bodies in order, each from the first usable hint. Throws if a body is gone from all groups. */
async function appendBodies(work: BringingBack, bodies: readonly CopiedBody[], done: Done): Promise<void> {
  const opened = new Map<string, OpenRow>();
  const faulty = new Set<string>();
  for (const [hintHolder, ofHintHolder] of Map.groupBy(bodies, ({ copies: [{ hintHolder }] }) => hintHolder)) {
    const rows = ofHintHolder.map(({ copies: [{ row }] }) => row);
    // Its writer may still be told `buffered`: the append may be read, and lost again, before that.
    if (hintHolder.kind !== 'drained') await hintHolder.client.change(markShown(rows));
    for await (const page of openRows(hintHolder.client, rows, tableOf(hintHolder.kind))) {
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
    const name = transactionName(row);
    if (name !== undefined) {
      if (!done.transactions.has(name)) await bringBackTransaction(work, row, done);
      done.transactions.add(name);
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
 * Appends rows by kind. In a restored log erasures are carried out at once: their records say they are done, and the
 * bodies came back; index entries follow with the verification. Elsewhere the eraser still needs the bodies to find the
 * index entries.
 */
async function append(
  { context, writer, datastore, shard, isRestored = false }: BringingBack,
  rows: readonly OpenRow[],
  done: Done,
): Promise<void> {
  for (const kind of ROW_KINDS) {
    const alike = rows.filter((row) => kindOf(row) === kind);
    if (alike.length === 0) continue;
    const { results } = await appendToPrimary(context, datastore, shard, alike, { anyWriter: true });
    done.appended += results.filter(({ outcome }) => outcome === 'stored').length;
    const there = alike.filter((_, position) => isThere(results[position]));
    const targets = isRestored ? there.flatMap((row) => targetAt(row) ?? []) : [];
    for (const target of targets) await eraseBodies(writer, shardDatabase(datastore, shard), target);
    await maintainEntries(context, datastore, there);
  }
}

/**
 * Appends a transaction whole, from the hints of its cells. Appends nothing of it if another body may have been
 * acknowledged at one of its addresses: then this transaction was not.
 */
async function bringBackTransaction(work: BringingBack, row: OpenRow, done: Done): Promise<void> {
  const { context, datastore, shard } = work;
  const whole = await wholeTransaction(work, row);
  if (whole.length === 0)
    throw new SchemalessError(
      'unavailable',
      `shard ${shard} of ${datastore}: copies of ${row.row_key} went away meanwhile`,
    );
  const missing = await missingOnWriter(work, whole);
  const found = await copiesAt(work.hintHolders, datastore, missing);
  for (const one of missing) {
    const address = addressKey(one);
    const all = found.get(address) ?? [];
    const bodies = await waitingBodies(thoseThatCount(all.map(toCounted)).map(({ copy }) => copy));
    if (bodies.length > 1) {
      done.inDoubt.add(address);
      if (haveWaited(work, address, bodies)) await report(work, all);
      return;
    }
    const isOurs = bodies[0]?.copies.some((copy) => Buffer.compare(copy.row.body_hash, one.body_hash) === 0);
    if (isOurs !== true) return;
  }
  const to = { datastore, shard, cells: unmarkedCells(whole) };
  const { results } = await appendWhole(context, to, { anyWriter: true, skipsErased: true });
  done.appended += results.filter(({ outcome }) => outcome === 'stored').length;
  await maintainEntries(
    context,
    datastore,
    whole.filter((_, position) => isThere(results[position])),
  );
}

/** Returns the hints of a transaction's cells, each from any group. Those of erased cells are gone. */
async function wholeTransaction({ hintHolders }: BringingBack, row: OpenRow): Promise<readonly OpenRow[]> {
  const found = new Map<string, OpenRow>();
  for (const { client, kind } of hintHolders)
    for (const one of (await transactionRows(client, row, tableOf(kind))).rows) found.set(addressKey(one), one);
  return [...found.values()].sort((one, other) => positionOf(one) - positionOf(other));
}

/** Leaves the address to an operator. Drained hints cannot be listed, so each poll reports them. */
async function report({ context, datastore, shard }: BringingBack, copies: readonly Copy[]): Promise<void> {
  const [first] = copies;
  let marked = 0;
  for (const [{ client, kind }, ofHintHolder] of Map.groupBy(copies, ({ hintHolder }) => hintHolder))
    if (kind === 'unanswered')
      marked += (await client.change(markInDoubt(ofHintHolder.map(({ row }) => row)))).affectedRows;
  const areListed = !copies.some(({ hintHolder }) => hintHolder.kind === 'drained');
  if (!first || (areListed && marked === 0)) return;
  const { row_key, column_name, ref_key } = first.row;
  context.report({ kind: 'in_doubt', datastore, shard, row_key, column_name, ref_key });
}

export type InDoubtSince = ReturnType<typeof inDoubtSince>;

/** Longer than any request lives: its writer has been answered or died by then. */
const REQUEST_LIFE_MS = 30_000;

/** Since when several bodies wait for one address, by this process's clock. */
export function inDoubtSince(requestLifeMs = REQUEST_LIFE_MS, now: () => number = () => performance.now()) {
  let known = new Map<string, number>();
  return {
    poll() {
      const seen = new Map<string, number>();
      return {
        hasWaited(address: string, bodyHash: Uint8Array): boolean {
          const body = `${Buffer.from(bodyHash).toString('hex')} ${address}`;
          const since = known.get(body) ?? now();
          known.set(body, since);
          seen.set(body, since);
          return now() - since >= requestLifeMs;
        },
        /** Ends the poll; bodies that it did not see are forgotten. */
        end(): void {
          known = seen;
        },
      };
    },
  };
}
