import { rowKeyOf } from '../../../shared/address.ts';
import { decodeBody } from '../../../shared/body/codec.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { markOf } from '../load/mark.ts';
import { onEachGroup } from '../../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';
import { storedLogs } from '../stored-logs.ts';

/** Where bodies are in the end: marks of cells, their bodies among them. */
export interface KeptBodies {
  readonly stored: ReadonlySet<number>;
  /** In buffer tables. */
  readonly buffered: ReadonlyMap<number, readonly Buffered[]>;
}

export interface Buffered {
  /** The group whose table it is in. */
  readonly holder: string;
  readonly state: 'waiting' | 'conflict' | 'parked';
}

/** Reads the shards' tables and the buffer tables, past the store. */
export async function keptBodies(groups: readonly GroupAccess[]): Promise<KeptBodies> {
  const buffered = new Map<number, Buffered[]>();
  const sql = 'SELECT row_key, column_name, ref_key, body, state FROM `schemaless`.buffer WHERE datastore = ?';
  await onEachGroup(groups, async (client, holder) => {
    for (const [rowKey, column, refKey, body, state] of await client.select(
      { sql, parameters: [DATASTORE] },
      'writer',
    )) {
      const cell = {
        row_key: rowKeyOf(toBytes(rowKey)),
        column_name: toText(column),
        ref_key: toNumber(refKey),
        body: decodeBody(toBytes(body)),
      };
      const mark = markOf(cell);
      buffered.set(mark, [...(buffered.get(mark) ?? []), { holder, state: String(state) as Buffered['state'] }]);
    }
  });
  const logs = await storedLogs(groups);
  return { stored: new Set(logs.flatMap(({ marks }) => marks)), buffered };
}
