import { readState, setState, type StateItem } from '../../dynamo/state-table.ts';
import { scanState, type DynamoTable } from '../../dynamo/table.ts';
import type { RetainedColumn, RetainedDay, Retention } from '../../api/erasures.ts';
import { changeItem } from '../../dynamo/change-item.ts';
import { uuidV5 } from '../../uuid-v5.ts';
import { shownRetention } from '../../sql/hidden-cells.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { ErasureWork } from '../erasure-work.ts';
import { behindSeconds, readOffsets } from './retention-offset.ts';

/** Returns `retention#trips`: marks a datastore with rules, or with unfinished former ones. Others cost one read. */
const markKey = (datastore: string): string => `retention#${datastore}`;

export async function isRetained(table: DynamoTable, datastore: string): Promise<boolean> {
  return (await readState(table, markKey(datastore)))?.['is']?.BOOL === true;
}

export async function setRetained(table: DynamoTable, datastore: string, is: boolean): Promise<void> {
  await setState(table, markKey(datastore), { is: { BOOL: is } });
}

/**
 * Returns the key of a column's erasures by retention: `retained#trips#COLUMN` of the state table, a summary for each
 * day. No such erasure has its own record, since a store may have a million of them a day.
 */
const keyOf = (datastore: string, column: string): string => `retained#${datastore}#${column}`;

/** The namespace of ids. */
const NAMESPACE = '0d7c0c3f-58a3-4a0e-9d0e-3c1c8f3f9f2b';
const KEPT_DAYS = 1000;

/** Returns the id of a column's erasures in logs and responses. */
export function retentionId(datastore: string, column: string): string {
  return uuidV5(NAMESPACE, JSON.stringify([datastore, column]));
}

/** Adds a run's erasures of a column. */
export async function addRetained(
  table: DynamoTable,
  datastore: string,
  column: string,
  more: RetainedDay,
): Promise<void> {
  await changeItem(table, keyOf(datastore, column), (item) => {
    const { before = [], others = [] } = Object.groupBy(daysOf(item), ({ day }) =>
      day === more.day ? 'before' : 'others',
    );
    const next = [...others, withMore(before[0], more)].slice(-KEPT_DAYS);
    return { values: { days: { S: JSON.stringify(next) }, column: { S: column } }, result: undefined };
  });
}

/** Returns the sum of two summaries of a column. */
export function withMore(before: RetainedDay | undefined, more: RetainedDay): RetainedDay {
  if (!before) return more;
  const sum = (of: 'erasures' | 'cells' | 'bytes'): number => before[of] + more[of];
  return { ...more, erasures: sum('erasures'), cells: sum('cells'), bytes: sum('bytes'), from: before.from };
}

/** Reads all columns of a datastore by a scan of the state table, since such requests are rare. */
export async function listRetained(table: DynamoTable, datastore: string): Promise<RetainedColumn[]> {
  const columns: RetainedColumn[] = [];
  for await (const { items } of scanState(table, keyOf(datastore, '')))
    for (const item of items) {
      const column = item['column']?.S ?? '';
      columns.push({ column, id: retentionId(datastore, column), days: daysOf(item) });
    }
  return columns.sort((one, other) => (one.column < other.column ? -1 : 1));
}

function daysOf(item: StateItem | undefined): readonly RetainedDay[] {
  return JSON.parse(item?.['days']?.S ?? '[]') as readonly RetainedDay[];
}

/** Returns the retention rules of a datastore, and their erasures. */
export async function retentionStatus(
  { topologyTable, stateTable }: Pick<ErasureWork, 'topologyTable' | 'stateTable'>,
  datastore: string,
): Promise<Retention> {
  const topology = await readDatastore(topologyTable, datastore);
  const rules = topology?.retention ?? [];
  const places = [...(await readOffsets(stateTable, datastore, topology?.shards ?? 0)).values()];
  const open = places.flatMap((place) => place.open);
  return {
    rules: rules.map(shownRetention),
    columns: await listRetained(stateTable, datastore),
    behind_seconds: rules.length === 0 ? 0 : (behindSeconds(rules, places) ?? null),
    open: open.length,
    waits_for: open.find(({ waits_for }) => waits_for !== null)?.waits_for ?? null,
  };
}
