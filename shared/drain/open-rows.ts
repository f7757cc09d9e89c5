import { addressKey } from '../address.ts';
import { decodeBody } from '../body/codec.ts';
import type { Json } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import type { EncodedCell } from '../sql/statements/append-cells.ts';
import { bodyHash } from '../sql/statements/insert-buffered.ts';
import {
  selectBuffered,
  toBufferRow,
  type BufferRow,
  type CopyTable,
  type WaitingRow,
} from '../sql/statements/select-buffered.ts';
import { pageBytes } from '../access/ask-parts.ts';

/**
 * A buffered write whose body was fetched and can be decoded. The value is not kept: it may be a hundred thousand times
 * as large.
 */
export interface OpenRow extends WaitingRow, EncodedCell {}

/** A row that is itself at fault: no server refused it, none is ever going to take it. */
export interface FaultyRow {
  readonly row: WaitingRow;
  readonly error: string;
}

/** Rows that are in memory together, and those among them that are at fault. */
interface OpenedPage {
  readonly rows: readonly OpenRow[];
  readonly faulty: readonly FaultyRow[];
}

/**
 * Fetches bodies page by page, each of a few MiB as they are stored, in the order of the buffer. Each is decoded once,
 * by itself, to see whether it can be; a body that was damaged, or cannot be decoded, is a fault of its row. Rows that
 * are gone meanwhile are left out, as is another write that has the id of one since a replica was promoted without it.
 */
export async function* openRows(
  holder: SqlClient,
  rows: readonly WaitingRow[],
  table: CopyTable = 'buffer',
): AsyncGenerator<OpenedPage> {
  const wanted = new Map(rows.map((row) => [row.id, row]));
  let ids = [...wanted.keys()].sort((one, other) => one - other);
  while (ids.length > 0) {
    const fetched = (await holder.select(selectBuffered(ids, pageBytes(holder), table), 'writer')).map(toBufferRow);
    const last = fetched.at(-1)?.id ?? Number.POSITIVE_INFINITY;
    ids = ids.filter((id) => id > last);
    const page: { rows: OpenRow[]; faulty: FaultyRow[] } = { rows: [], faulty: [] };
    for (const row of fetched) {
      if (!isSameCopy(row, wanted.get(row.id))) continue;
      const fault = faultOf(row);
      if (fault === undefined) page.rows.push(openRow(row));
      else page.faulty.push({ row, error: `cannot be used: ${fault}` });
    }
    yield page;
  }
}

function isSameCopy(row: WaitingRow, wanted: WaitingRow | undefined): boolean {
  return (
    wanted?.datastore === row.datastore &&
    addressKey(wanted) === addressKey(row) &&
    Buffer.compare(wanted.body_hash, row.body_hash) === 0
  );
}

function faultOf({ body, body_hash }: BufferRow): string | undefined {
  if (Buffer.compare(bodyHash(body), body_hash) !== 0) return 'the body is not the one that was buffered';
  try {
    decodeBody(body);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Decodes its body whenever it is asked for, and keeps only the bytes. */
function openRow({ body, ...row }: BufferRow): OpenRow {
  return {
    ...row,
    encoded: body,
    get body(): Json {
      return decodeBody(body);
    },
  };
}
