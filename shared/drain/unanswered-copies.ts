import { addressKey } from '../address.ts';
import type { CellAddress } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import {
  selectCopies,
  selectCopiesOf,
  toCopies,
  toUnanswered,
  type CopyKind,
  type TimedRow,
  tableOf,
} from '../sql/statements/select-unanswered.ts';
import { decodeBody } from '../body/codec.ts';
import { equalJson } from '../body/equal.ts';
import { openRows, type OpenRow } from './open-rows.ts';

export interface HintHolder {
  readonly client: SqlClient;
  readonly kind: CopyKind;
}

/** A hint of a write that may have been acknowledged. */
export interface Copy {
  readonly hintHolder: HintHolder;
  readonly row: WaitingRow;
}

/** Rows of one statement: most rows of a buffer say nothing but their id. */
const PAGE_ROWS = 1000;

/** Reads one group's hints of a shard and kind, page by page. Throws `SqlError` without its writer. */
export async function* copyPages(
  { client, kind }: HintHolder,
  datastore: string,
  shard: number,
): AsyncGenerator<readonly TimedRow[]> {
  for (let after: number | undefined = 0; after !== undefined;) {
    const statement = selectCopiesOf(kind, { datastore, shard, after, limit: PAGE_ROWS });
    const page = toUnanswered(await client.select(statement, 'writer'), PAGE_ROWS);
    if (page.rows.length > 0) yield page.rows;
    after = page.next;
  }
}

const MERGED_ROWS = 200;

/** Reads those of several groups in the order in which they came, by the groups' clocks. */
export async function* mergedPages(
  hintHolders: readonly HintHolder[],
  datastore: string,
  shard: number,
): AsyncGenerator<readonly TimedRow[]> {
  const heads = hintHolders.map((hintHolder) => ({
    pages: copyPages(hintHolder, datastore, shard),
    rows: [] as TimedRow[],
  }));
  const fill = async (head: (typeof heads)[number]): Promise<void> => {
    if (head.rows.length === 0) head.rows = [...((await head.pages.next()).value ?? [])].reverse();
  };
  await Promise.all(heads.map(fill));
  for (let merged: TimedRow[] = []; ;) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) if (cameBefore(head.rows.at(-1), first?.rows.at(-1))) first = head;
    const row = first?.rows.pop();
    if (row) merged.push(row);
    if (merged.length === MERGED_ROWS || (!row && merged.length > 0)) {
      yield merged;
      merged = [];
    }
    if (!first) return;
    await fill(first);
  }
}

function cameBefore(one: TimedRow | undefined, other: TimedRow | undefined): boolean {
  return one !== undefined && (other === undefined || one.came_at < other.came_at);
}

/** Reads all hints at some addresses, by `addressKey`. Throws `SqlError` without a group's writer. */
export async function copiesAt(
  hintHolders: readonly HintHolder[],
  datastore: string,
  addresses: readonly CellAddress[],
): Promise<ReadonlyMap<string, readonly Copy[]>> {
  const held = await Promise.all(
    hintHolders.map(async (hintHolder) => {
      const rows = toCopies(
        await hintHolder.client.select(selectCopies(hintHolder.kind, datastore, addresses), 'writer'),
      );
      return rows.map((row): Copy => ({ hintHolder, row }));
    }),
  );
  return Map.groupBy(held.flat(), ({ row }) => addressKey(row));
}

export interface CopiedBody {
  readonly copies: readonly [Copy, ...Copy[]];
}

/** Returns the different bodies among hints of one address, at most two. Equal values are one body. */
export async function waitingBodies(copies: readonly Copy[]): Promise<readonly CopiedBody[]> {
  const byHash = [...Map.groupBy(copies, ({ row }) => Buffer.from(row.body_hash).toString('hex')).values()] as [
    Copy,
    ...Copy[],
  ][];
  if (byHash.length < 2) return byHash.map((ofHash) => ({ copies: ofHash }));
  const bodies: { readonly copies: [Copy, ...Copy[]]; readonly opened: OpenRow | undefined }[] = [];
  for (const ofHash of byHash) {
    const opened = await openOne(ofHash);
    // Unreadable bytes equal nothing.
    const equal = bodies.find((body) => body.opened && opened && isEqual(body.opened, opened));
    if (equal) equal.copies.push(...ofHash);
    else if (bodies.push({ copies: ofHash, opened }) === 2) break;
  }
  return bodies;
}

export async function openOne(copies: readonly Copy[]): Promise<OpenRow | undefined> {
  for (const { hintHolder, row } of copies) {
    for await (const page of openRows(hintHolder.client, [row], tableOf(hintHolder.kind))) {
      const [opened] = page.rows;
      if (opened) return opened;
    }
  }
  return undefined;
}

function isEqual(one: OpenRow, other: OpenRow): boolean {
  return equalJson(decodeBody(one.encoded), decodeBody(other.encoded));
}
