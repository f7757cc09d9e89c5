import type { EncodedCell } from '../sql/encoded-cell.ts';
import { addressKey } from '../address.ts';
import { decodeBody } from '../body/codec.ts';
import type { Json } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import { bodyHash } from '../sql/statements/insert-buffered.ts';
import {
  selectBuffered,
  toBufferRow,
  type BufferRow,
  type CopyTable,
  type WaitingRow,
} from '../sql/statements/select-buffered.ts';
import { pageBytes } from '../access/ask-parts.ts';

export interface OpenRow extends WaitingRow, EncodedCell {}

/** A row that is itself faulty: no server will ever take it. */
export interface FaultyRow {
  readonly row: WaitingRow;
  readonly error: string;
}

interface OpenedPage {
  readonly rows: readonly OpenRow[];
  readonly faulty: readonly FaultyRow[];
}

/** Fetches and checks bodies page by page. Leaves out rows that are gone, or whose ids others have now. */
export async function* openRows(
  hintHolder: SqlClient,
  rows: readonly WaitingRow[],
  table: CopyTable = 'buffer',
): AsyncGenerator<OpenedPage> {
  const wanted = new Map(rows.map((row) => [row.id, row]));
  let ids = [...wanted.keys()].sort((one, other) => one - other);
  while (ids.length > 0) {
    const fetched = (await hintHolder.select(selectBuffered(ids, pageBytes(hintHolder), table), 'writer')).map(
      toBufferRow,
    );
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

/** Decodes the body on each access, and keeps only the bytes. */
function openRow({ body, ...row }: BufferRow): OpenRow {
  return {
    ...row,
    encoded: body,
    get body(): Json {
      return decodeBody(body);
    },
  };
}
