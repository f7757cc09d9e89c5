import { readState, setState, scanState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { RetainedColumn, RetainedDay, Retention } from '../../api/erasures.ts';
import { changeItem } from '../../dynamo/change-item.ts';
import { uuidV5 } from '../../uuid-v5.ts';
import { shownRetention } from '../../sql/hidden-cells.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { ErasureWork } from '../erasure-work.ts';
import { behindSeconds, readPlaces } from './retention-place.ts';

/** `retention#trips`: a datastore has rules, or had them and is not done. Without it retention costs one read. */
const markKey = (datastore: string): string => `retention#${datastore}`;

export async function isRetained(table: DynamoTable, datastore: string): Promise<boolean> {
  return (await readState(table, markKey(datastore)))?.['is']?.BOOL === true;
}

export async function setRetained(table: DynamoTable, datastore: string, is: boolean): Promise<void> {
  await setState(table, markKey(datastore), { is: { BOOL: is } });
}

/**
 * What was erased since it was out of its retention: `retained#trips#COLUMN` of the state table, a summary for each day.
 * There is no record for each such erasure: a store may have a million of them a day.
 */
const keyOf = (datastore: string, column: string): string => `retained#${datastore}#${column}`;

/** The namespace of ids. */
const NAMESPACE = '0d7c0c3f-58a3-4a0e-9d0e-3c1c8f3f9f2b';
const KEPT_DAYS = 1000;

/** By which logs and answers name the erasures of a column. */
export function retentionId(datastore: string, column: string): string {
  return uuidV5(NAMESPACE, JSON.stringify([datastore, column]));
}

/** Adds what a run has erased of a column. */
export async function addRetained(
  table: DynamoTable,
  datastore: string,
  column: string,
  { day, erasures, cells, bytes, from, to }: RetainedDay,
): Promise<void> {
  await changeItem(table, keyOf(datastore, column), (item) => {
    const days = daysOf(item);
    const before = days.find((one) => one.day === day);
    const now: RetainedDay = {
      day,
      erasures: erasures + (before?.erasures ?? 0),
      cells: cells + (before?.cells ?? 0),
      bytes: bytes + (before?.bytes ?? 0),
      from: before?.from ?? from,
      to,
    };
    const next = [...days.filter((one) => one.day !== day), now].slice(-KEPT_DAYS);
    return { values: { days: { S: JSON.stringify(next) }, column: { S: column } }, result: undefined };
  });
}

/** Of all columns of a datastore: the state table is read from end to end, as few ask for it. */
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

/** Returns how long the cells of a datastore are kept, and what was erased by that. */
export async function retentionStatus(
  { topologyTable, stateTable }: Pick<ErasureWork, 'topologyTable' | 'stateTable'>,
  datastore: string,
): Promise<Retention> {
  const topology = await readDatastore(topologyTable, datastore);
  const rules = topology?.retention ?? [];
  const places = [...(await readPlaces(stateTable, datastore, topology?.shards ?? 0)).values()];
  const open = places.flatMap((place) => place.open);
  return {
    rules: rules.map(shownRetention),
    columns: await listRetained(stateTable, datastore),
    behind_seconds: rules.length === 0 ? 0 : (behindSeconds(rules, places) ?? null),
    open: open.length,
    waits_for: open.find(({ waits_for }) => waits_for !== null)?.waits_for ?? null,
  };
}
