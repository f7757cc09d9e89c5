import { addressKey, shardDatabase, targetAt } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import { keepEntries } from '../index/keep-entries.ts';
import type { SqlClient } from '../sql/client.ts';
import { markShown } from '../sql/statements/change-buffered.ts';
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
import {
  copiesAt,
  copyPages,
  mergedPages,
  type Copy,
  type Holder,
  openOne,
  waitingBodies,
  type CopiedBody,
} from './unanswered-copies.ts';
import { slicesOf } from '../slices-of.ts';

export interface BringingBack {
  readonly context: StoreContext;
  readonly writer: SqlClient;
  /** The server that is to take appends: another one's answers do not count. */
  readonly serverId: number;
  /** All groups that may hold hints, for each kind that counts. */
  readonly holders: readonly Holder[];
  readonly datastore: string;
  readonly shard: number;
  readonly look: Pick<ReturnType<UndecidedSince['look']>, 'hasWaited'>;
  readonly isSetBack?: boolean;
}

interface BroughtBack {
  readonly appended: number;
  /** Addresses with two bodies that may both have been acknowledged: the shard stays closed. */
  readonly undecided: number;
}

interface Done {
  appended: number;
  readonly bodies: { count: number; bytes: number };
  readonly undecided: Set<string>;
}

const BATCH = 200;
/** Bodies of unknown size held in memory together, each of up to a MiB. */
const FEWEST_BODIES = 8;

/**
 * Appends what the writer of a shard lacks and may have been acknowledged. Each hint is looked for on the writer; only
 * if it has no cell there, all groups are asked about the address. Drained hints come first, in order. A body that no
 * group can decode is passed over: the drain parks its hints, and an alarm tells. Throws SqlError or SchemalessError
 * when the writer refuses or has changed, or it or a group cannot be asked: not everything is there.
 */
export async function bringBackShard(work: BringingBack): Promise<BroughtBack> {
  const { datastore, shard, holders } = work;
  const done: Done = { appended: 0, bodies: { count: 0, bytes: 0 }, undecided: new Set() };
  const ofKind = (kind: Holder['kind']): readonly Holder[] => holders.filter((holder) => holder.kind === kind);
  for await (const rows of mergedPages(ofKind('drained'), datastore, shard)) await bringBack(work, rows, done);
  for (const holder of [...ofKind('unanswered'), ...ofKind('answered')]) {
    for await (const rows of copyPages(holder, datastore, shard))
      for (const some of slicesOf(rows, BATCH)) await bringBack(work, some, done);
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

/** Returns how many bodies fill a page, at their average size so far. */
function bodiesTogether({ writer }: BringingBack, { bodies: { count, bytes } }: Done): number {
  return count === 0 ? FEWEST_BODIES : Math.max(FEWEST_BODIES, Math.floor((pageBytes(writer) * count) / (bytes + 1)));
}

function toCounted(copy: Copy): CountedCopy & { readonly copy: Copy } {
  return { copy, body: Buffer.from(copy.row.body_hash).toString('hex'), kind: copy.holder.kind };
}

/** Whether each has waited; asking for each starts its time. */
function haveWaited({ datastore, look }: BringingBack, address: string, bodies: readonly CopiedBody[]): boolean {
  return (
    bodies.filter(({ copies: [{ row }] }) => look.hasWaited(`${datastore}/${address}`, row.body_hash)).length ===
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
  for (const [holder, ofHolder] of Map.groupBy(bodies, ({ copies: [{ holder }] }) => holder)) {
    const rows = ofHolder.map(({ copies: [{ row }] }) => row);
    // Its writer may still be told `buffered`: the append may be read, and lost again, before that.
    if (holder.kind !== 'drained') await holder.client.change(markShown(rows));
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
 * Appends rows by kind. In a restored log erasures are carried out at once: their records say they are done, and the
 * bodies came back; index entries follow with the verification. Elsewhere the eraser still needs the bodies to find the
 * index entries.
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

/** Leaves the address to an operator. Drained hints cannot be listed, so each look reports them. */
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

export type UndecidedSince = ReturnType<typeof undecidedSince>;

/** Longer than any request lives: its writer has been answered or died by then. */
const REQUEST_LIFE_MS = 30_000;

/** Since when several bodies wait for one address, by this process's clock. */
export function undecidedSince(requestLifeMs = REQUEST_LIFE_MS, now: () => number = () => performance.now()) {
  let known = new Map<string, number>();
  return {
    look() {
      const seen = new Map<string, number>();
      return {
        hasWaited(address: string, bodyHash: Uint8Array): boolean {
          const body = `${Buffer.from(bodyHash).toString('hex')} ${address}`;
          const since = known.get(body) ?? now();
          known.set(body, since);
          seen.set(body, since);
          return now() - since >= requestLifeMs;
        },
        /** Ends the look; what it did not see is forgotten. */
        end(): void {
          known = seen;
        },
      };
    },
  };
}
