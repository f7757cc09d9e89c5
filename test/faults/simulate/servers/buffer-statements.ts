import { bufferRead, isUnanswered, isWaiting, MAY_BE_STORED } from './buffer-reads.ts';
import { bound, type Execution, type Plan, type Written, written } from './plan.ts';
import { addressOf, copyKey, type BufferedRow, type TableChange } from './tables.ts';

const BUFFER = '`schemaless`.buffer';

/** Plans all statements of a buffer table. */
export function planBuffer(sql: string): Plan | undefined {
  if (!sql.includes(BUFFER)) return undefined;
  const known = bufferRead(sql);
  if (known) return { ...known, shards: [] };
  const [kind, , write] = CHANGES.find(([, start, , end = '']) => sql.startsWith(start) && sql.endsWith(end)) ?? [];
  return kind === undefined || !write ? undefined : { kind, shards: [], write };
}

const UPDATE = `UPDATE ${BUFFER} SET`;

/** Each by the beginning of its text, and by its end if that matters. */
const CHANGES: readonly (readonly [
  kind: string,
  start: string,
  write: (execution: Execution) => Written,
  end?: string,
])[] = [
  [
    'buffer',
    `INSERT INTO ${BUFFER} (`,
    insert,
    "ON DUPLICATE KEY UPDATE body = VALUES(body), attempts = 0, state = IF(state IN ('conflict', 'parked'), 'waiting', state), shown = GREATEST(shown, OCTET_LENGTH(writers) >= 4000), writers = IF(LOCATE(VALUES(writers), writers) > 0 OR OCTET_LENGTH(writers) >= 4000, writers, CONCAT(writers, VALUES(writers))), stored_at = IF(VALUES(stored_at) IS NULL, NULL, stored_at)",
  ],
  // One row by its columns, several as tuples.
  ['delete buffered', `DELETE FROM ${BUFFER} WHERE (datastore`, deletedWhere(() => true)],
  [
    'delete withdrawn',
    `DELETE FROM ${BUFFER} WHERE writers = '' AND (`,
    deletedWhere(({ writers }) => writers.length === 0),
  ],
  [
    'withdraw',
    `${UPDATE} writers = REPLACE(writers, ?, ''), answered = REPLACE(answered, ?, '') WHERE (`,
    ({ tables, parameters: [, ...key] }) =>
      ofWriter(({ writers, answered }, writer) => ({
        writers: writers.filter((one) => one !== writer),
        answered: answered.filter((one) => one !== writer),
      }))({ tables, parameters: key }),
  ],
  [
    'answer buffered',
    `${UPDATE} answered = IF(LOCATE(?, answered) > 0, answered, CONCAT(answered, ?)), shown = GREATEST(shown, ?) WHERE LOCATE(?, writers) > 0 AND (`,
    ({ tables, parameters: [, , isShown, ...key] }) =>
      ofWriter(
        (row, writer) =>
          row.writers.includes(writer) && {
            answered: [...new Set([...row.answered, writer])],
            isShown: row.isShown || isShown === 1,
          },
      )({ tables, parameters: key }),
  ],
  ['mark shown', `${UPDATE} shown = 1 WHERE shown = 0 AND (`, changed((row) => !row.isShown && { isShown: true })],
  [
    'mark conflicts',
    `${UPDATE} state = 'conflict' WHERE state = 'waiting' AND (`,
    changed((row) => isWaiting(row) && { state: 'conflict' }),
  ],
  [
    'mark in doubt',
    `${UPDATE} state = 'in_doubt' WHERE state IN ('waiting', 'parked') AND ${MAY_BE_STORED} AND (`,
    changed((row) => isUnanswered(row) && ['waiting', 'parked'].includes(row.state) && { state: 'in_doubt' }),
  ],
  ['fail buffered', `${UPDATE} attempts = attempts + 1`, fail],
  [
    'note refusal',
    `${UPDATE} last_error = ? WHERE state = 'waiting' AND (`,
    ({ tables, parameters: [, ...key] }) => changed((row) => isWaiting(row) && {})({ tables, parameters: key }),
  ],
  [
    'give way',
    `${UPDATE} answered = writers, shown = 0, state = 'waiting' WHERE state = 'in_doubt' AND ${MAY_BE_STORED} AND datastore = ?`,
    giveWay,
    ' AND body_hash <> ?',
  ],
  [
    'release in doubt',
    `${UPDATE} state = 'waiting' WHERE state = 'in_doubt' AND datastore = ? AND shard IN (`,
    release,
  ],
];

function insert({ tables, parameters, now, flaws }: Execution): Written {
  const values = bound(parameters);
  const changes = new Map<number, TableChange>();
  const added = new Map<string, BufferedRow>();
  let next = tables.nextBufferId;
  while (values.left() > 0) {
    const [datastore, shard, ...content] = values.some(
      ...(['text', 'number', 'bytes', 'bytes', 'number', 'bytes', 'bytes'] as const),
    );
    const [rowKey, columnName, ref_key, body, bodyHash] = content;
    values.nothing();
    const writer = Buffer.from(values.bytes()).toString('hex');
    const address = addressOf(rowKey, columnName, ref_key);
    const key = copyKey({ datastore, address, bodyHash });
    const taken = flaws.copiesByAddress
      ? [...tables.buffer.values()].find((row) => row.address === address)
      : tables.buffer.get(tables.copies.get(key) ?? 0);
    const old = added.get(key) ?? taken;
    const state = old?.state === 'in_doubt' ? old.state : 'waiting';
    const cell = { datastore, shard, address, rowKey, columnName, ref_key, bodyHash, createdAt: now };
    const kept = old ?? { id: next, ...cell, writers: [], answered: [], isShown: false };
    const writers = [...new Set([...kept.writers, writer])];
    const row: BufferedRow = { ...kept, body, attempts: 0, state, writers };
    if (!old) next += 1;
    added.set(key, row);
    changes.set(row.id, { kind: 'buffered', row });
  }
  return { affectedRows: changes.size, insertId: 0, changes: [...changes.values()] };
}

function fail({ tables, parameters: [, most, ...key] }: Execution): Written {
  return changed((row) => {
    const attempts = row.attempts + 1;
    return isWaiting(row) && { attempts, state: attempts >= Number(most) ? 'parked' : row.state };
  })({ tables, parameters: key });
}

function giveWay({ tables, parameters }: Execution): Written {
  const values = bound(parameters);
  const datastore = values.text();
  const [address, bodyHash] = [addressOf(values.bytes(), values.bytes(), values.number()), values.bytes()];
  const isMeant = (row: BufferedRow): boolean =>
    row.state === 'in_doubt' &&
    isUnanswered(row) &&
    row.datastore === datastore &&
    row.address === address &&
    Buffer.compare(row.bodyHash, bodyHash) !== 0;
  return updated(
    [...tables.buffer.values()]
      .filter(isMeant)
      .map((row) => ({ ...row, answered: row.writers, isShown: false, state: 'waiting' as const })),
  );
}

function release({ tables, parameters: [datastore, ...shards] }: Execution): Written {
  const rows = [...tables.buffer.values()].filter(
    (row) => row.state === 'in_doubt' && row.datastore === datastore && shards.includes(row.shard),
  );
  return updated(rows.map((row) => ({ ...row, state: 'waiting' })));
}

type Named = Pick<Execution, 'tables' | 'parameters'>;

function named({ tables, parameters }: Named): BufferedRow[] {
  const values = bound(parameters);
  const rows: BufferedRow[] = [];
  while (values.left() > 0) {
    const [datastore, ...address] = values.some('text', 'bytes', 'bytes', 'number');
    const key = copyKey({ datastore, address: addressOf(...address), bodyHash: values.bytes() });
    const row = tables.buffer.get(tables.copies.get(key) ?? 0);
    if (row && !rows.includes(row)) rows.push(row);
  }
  return rows;
}

/** @param change of a named row; false to skip it */
function changed(change: (row: BufferedRow) => Partial<BufferedRow> | false): (execution: Named) => Written {
  return (execution) =>
    updated(
      named(execution).flatMap((row) => {
        const to = change(row);
        return to ? [{ ...row, ...to }] : [];
      }),
    );
}

/** The same for one write: its id precedes the keys. */
function ofWriter(
  change: (row: BufferedRow, writer: string) => Partial<BufferedRow> | false,
): (execution: Named) => Written {
  return ({ tables, parameters: [id, ...parameters] }) => {
    const writer = Buffer.from(id as Uint8Array).toString('hex');
    return changed((row) => change(row, writer))({ tables, parameters });
  };
}

function deletedWhere(isMeant: (row: BufferedRow) => boolean): (execution: Named) => Written {
  return (execution) => deleted(named(execution).filter(isMeant));
}

function updated(rows: readonly BufferedRow[]): Written {
  return written(rows.map((row) => ({ kind: 'buffered', row })));
}

function deleted(rows: readonly BufferedRow[]): Written {
  return written(rows.map((row) => ({ kind: 'unbuffered', row })));
}
