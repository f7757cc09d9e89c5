import type { SqlParameter } from '../../../../shared/sql/client.ts';
import { bufferRead } from './buffer-reads.ts';
import { bound, type Execution, type Plan, type Written } from './plan.ts';
import { addressOf, copyKey, type BufferedRow, type TableChange } from './tables.ts';

const BUFFER = '`schemaless`.buffer';

/** Everything of a buffer table. Nobody deletes a datastore here. */
export function planBuffer(sql: string): Plan | undefined {
  if (!sql.includes(BUFFER)) return undefined;
  const known = bufferRead(sql);
  if (known) return { ...known, shards: [] };
  const write = (kind: string, action: (execution: Execution) => Written): Plan => ({
    kind,
    shards: [],
    write: action,
  });
  /** A change of rows that are named by their keys. */
  const change = (
    kind: string,
    isMeant: (row: BufferedRow) => boolean,
    change: (row: BufferedRow) => Partial<BufferedRow>,
  ): Plan =>
    write(kind, (execution) =>
      updated(
        named(execution)
          .filter(isMeant)
          .map((row) => ({ ...row, ...change(row) })),
      ),
    );

  if (
    sql.startsWith(`INSERT INTO ${BUFFER} (`) &&
    sql.endsWith(
      "ON DUPLICATE KEY UPDATE body = VALUES(body), attempts = 0, state = IF(state IN ('conflict', 'parked'), 'waiting', state), writers = writers + 1, stored_at = IF(VALUES(stored_at) IS NULL, NULL, stored_at)",
    )
  )
    return write('buffer', insert);
  if (sql.startsWith(`DELETE FROM ${BUFFER} WHERE (datastore = ?`))
    return write('delete buffered', (execution) => deleted(named(execution)));
  if (sql.startsWith(`DELETE FROM ${BUFFER} WHERE writers = 0 AND (`))
    return write('delete withdrawn', (execution) => deleted(named(execution).filter(({ writers }) => writers === 0)));
  if (sql.startsWith(`DELETE FROM ${BUFFER} WHERE state = 'conflict' AND datastore = ?`)) {
    return write('discard conflicts', ({ tables, parameters: [datastore, ...ids] }) =>
      deleted(ofIds(tables.buffer, ids).filter((row) => row.state === 'conflict' && row.datastore === datastore)),
    );
  }
  if (sql.startsWith(`UPDATE ${BUFFER} SET writers = writers - 1 WHERE writers > 0 AND (`))
    return change(
      'withdraw',
      ({ writers }) => writers > 0,
      ({ writers }) => ({ writers: writers - 1 }),
    );
  if (
    sql.startsWith(`UPDATE ${BUFFER} SET answered = answered + 1 WHERE (`) &&
    sql.endsWith(' AND NOT EXISTS (SELECT 1 FROM `schemaless`.deletion WHERE deletion.datastore = ?)')
  )
    return write('answer buffered', ({ tables, parameters }) =>
      updated(
        named({ tables, parameters: parameters.slice(0, -1) }).map((row) => ({ ...row, answered: row.answered + 1 })),
      ),
    );
  if (sql.startsWith(`UPDATE ${BUFFER} SET state = 'conflict' WHERE state = 'waiting' AND (`))
    return change('mark conflicts', isWaiting, () => ({ state: 'conflict' }));
  if (
    sql.startsWith(
      `UPDATE ${BUFFER} SET state = 'undecided' WHERE state IN ('waiting', 'parked') AND answered < writers AND (`,
    )
  ) {
    return change(
      'mark undecided',
      (row) => row.answered < row.writers && (row.state === 'waiting' || row.state === 'parked'),
      () => ({ state: 'undecided' }),
    );
  }
  if (sql.startsWith(`UPDATE ${BUFFER} SET attempts = attempts + 1`)) return write('fail buffered', fail);
  if (sql.startsWith(`UPDATE ${BUFFER} SET last_error = ? WHERE state = 'waiting' AND (`))
    return write('note refusal', ({ tables, parameters: [, ...key] }) =>
      updated(named({ tables, parameters: key }).filter(isWaiting)),
    );
  if (
    sql.startsWith(
      `UPDATE ${BUFFER} SET answered = writers, state = 'waiting' WHERE state = 'undecided' AND answered < writers AND datastore = ?`,
    ) &&
    sql.endsWith(' AND body_hash <> ?')
  )
    return write('give way', giveWay);
  if (
    sql.startsWith(`UPDATE ${BUFFER} SET state = 'waiting' WHERE state = 'undecided' AND datastore = ? AND shard IN (`)
  )
    return write('release undecided', release);
  return undefined;
}

function insert({ tables, parameters, now, flaws }: Execution): Written {
  const values = bound(parameters);
  const changes = new Map<number, TableChange>();
  const added = new Map<string, BufferedRow>();
  let next = tables.nextBufferId;
  while (values.left() > 0) {
    const [datastore, shard, rowKey, columnName, ref_key, body, bodyHash] = [
      values.text(),
      values.number(),
      values.bytes(),
      values.bytes(),
      values.number(),
      values.bytes(),
      values.bytes(),
    ];
    values.nothing();
    const address = addressOf(rowKey, columnName, ref_key);
    const key = copyKey({ datastore, address, bodyHash });
    const taken = flaws.copiesByAddress
      ? [...tables.buffer.values()].find((row) => row.address === address)
      : tables.buffer.get(tables.copies.get(key) ?? 0);
    const old = added.get(key) ?? taken;
    const row: BufferedRow = old
      ? {
          ...old,
          body,
          attempts: 0,
          state: old.state === 'undecided' ? old.state : 'waiting',
          writers: old.writers + 1,
        }
      : {
          id: next,
          datastore,
          shard,
          address,
          rowKey,
          columnName,
          ref_key,
          body,
          bodyHash,
          createdAt: now,
          state: 'waiting',
          writers: 1,
          answered: 0,
          attempts: 0,
        };
    if (!old) next += 1;
    added.set(key, row);
    changes.set(row.id, { kind: 'buffered', row });
  }
  return { affectedRows: changes.size, insertId: 0, changes: [...changes.values()] };
}

function fail({ tables, parameters }: Execution): Written {
  const [, most, ...key] = parameters;
  return updated(
    named({ tables, parameters: key })
      .filter(isWaiting)
      .map((row) => ({
        ...row,
        attempts: row.attempts + 1,
        state: row.attempts + 1 >= Number(most) ? 'parked' : row.state,
      })),
  );
}

function giveWay({ tables, parameters }: Execution): Written {
  const values = bound(parameters);
  const datastore = values.text();
  const [address, bodyHash] = [addressOf(values.bytes(), values.bytes(), values.number()), values.bytes()];
  const isMeant = (row: BufferedRow): boolean =>
    row.state === 'undecided' &&
    row.answered < row.writers &&
    row.datastore === datastore &&
    row.address === address &&
    Buffer.compare(row.bodyHash, bodyHash) !== 0;
  return updated(
    [...tables.buffer.values()].filter(isMeant).map((row) => ({ ...row, answered: row.writers, state: 'waiting' })),
  );
}

function release({ tables, parameters: [datastore, ...shards] }: Execution): Written {
  const rows = [...tables.buffer.values()].filter(
    (row) => row.state === 'undecided' && row.datastore === datastore && shards.includes(row.shard),
  );
  return updated(rows.map((row) => ({ ...row, state: 'waiting' })));
}

/** Rows that a statement names by address and body hash. */
function named({ tables, parameters }: Pick<Execution, 'tables' | 'parameters'>): BufferedRow[] {
  const values = bound(parameters);
  const rows: BufferedRow[] = [];
  while (values.left() > 0) {
    const [datastore, rowKey, columnName, ref_key, bodyHash] = [
      values.text(),
      values.bytes(),
      values.bytes(),
      values.number(),
      values.bytes(),
    ];
    const row = tables.buffer.get(
      tables.copies.get(copyKey({ datastore, address: addressOf(rowKey, columnName, ref_key), bodyHash })) ?? 0,
    );
    if (row && !rows.includes(row)) rows.push(row);
  }
  return rows;
}

function updated(rows: readonly BufferedRow[]): Written {
  return { affectedRows: rows.length, insertId: 0, changes: rows.map((row) => ({ kind: 'buffered', row })) };
}

function deleted(rows: readonly BufferedRow[]): Written {
  return { affectedRows: rows.length, insertId: 0, changes: rows.map((row) => ({ kind: 'unbuffered', row })) };
}

function ofIds(buffer: ReadonlyMap<number, BufferedRow>, ids: readonly SqlParameter[]): BufferedRow[] {
  return [...new Set(ids.map(Number))].flatMap((id) => buffer.get(id) ?? []);
}

const isWaiting = ({ state }: BufferedRow): boolean => state === 'waiting';
