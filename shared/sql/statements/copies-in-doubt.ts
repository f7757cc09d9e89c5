import { rowKeyBytes } from '../../address.ts';
import { toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { updateCopies, type CopyKey } from './copy-key.ts';
import { MAY_BE_STORED } from './select-buffered.ts';

/** Marks hints of one address of which more than one body may have been acknowledged: an operator has to choose. */
export function markInDoubt(rows: readonly CopyKey[]): Statement {
  return updateCopies("state = 'in_doubt'", `state IN ('waiting', 'parked') AND ${MAY_BE_STORED}`, rows);
}

/** Makes all other hints in doubt at the chosen one's address count as answered `buffered`: they give way. */
export function giveWay({ datastore, row_key, column_name, ref_key, body_hash }: CopyKey): Statement {
  return {
    sql:
      `UPDATE ${CONTROL}.buffer SET answered = writers, shown = 0, state = 'waiting' WHERE state = 'in_doubt' AND ${MAY_BE_STORED} ` +
      `AND datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ? AND body_hash <> ?`,
    parameters: [datastore, rowKeyBytes(row_key), Buffer.from(column_name), ref_key, body_hash],
  };
}

/** Lets the hints of shards that take appends again wait for the drain. */
export function releaseInDoubt(datastore: string, shards: readonly { readonly shard: number }[]): Statement {
  return {
    sql: `UPDATE ${CONTROL}.buffer FORCE INDEX (place) SET state = 'waiting' WHERE state = 'in_doubt' AND datastore = ? AND shard IN (${shards.map(() => '?').join(', ')})`,
    parameters: [datastore, ...shards.map(({ shard }) => shard)],
  };
}

export function selectShardsInDoubt(): Statement {
  return { sql: `SELECT DISTINCT datastore, shard FROM ${CONTROL}.buffer WHERE state = 'in_doubt'`, parameters: [] };
}

export function toShardsInDoubt(rows: readonly SqlRow[]): { readonly datastore: string; readonly shard: number }[] {
  return rows.map(([datastore, shard]) => ({ datastore: toText(datastore), shard: toNumber(shard) }));
}
