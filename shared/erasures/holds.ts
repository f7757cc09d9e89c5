import type { Hold, HoldPage } from '../contract/retention-operations.ts';
import { changeItem } from '../dynamo/change-item.ts';
import { readState, scanState, updateState, type StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { SchemalessError } from '../errors.ts';

/**
 * What is held back from every erasure: `hold#trips#row#KEY` and `hold#trips#subject#NAME` of the state table, with the
 * holds of each. Only who erases looks: reads and writes know nothing of holds. `held#trips` says that there was ever one,
 * so that retention need not look for each row where there was none; its `released` are rows whose last hold was released,
 * until what of them is out of its retention was looked for, and `again` counts how often there were too many to say which.
 */

/** What is held: a row, or a subject, by its name. */
export type Held =
  | { readonly row_key: string; readonly subject?: undefined }
  | { readonly subject: string; readonly row_key?: undefined };

const prefixOf = (datastore: string): string => `hold#${datastore}#`;
const markKey = (datastore: string): string => `held#${datastore}`;

function keyOf(datastore: string, held: Held): string {
  const of = held.row_key === undefined ? `subject#${held.subject}` : `row#${held.row_key}`;
  return `${prefixOf(datastore)}${of}`;
}

/** The holds of a row or a subject; none where it is not held. */
export async function holdsOf(table: DynamoTable, datastore: string, held: Held): Promise<readonly Hold[]> {
  return toHolds(await readState(table, keyOf(datastore, held)));
}

/**
 * Throws `held` where somebody holds a row or a subject.
 *
 * @param held what would be erased, or forgotten
 */
export async function requireNotHeld(table: DynamoTable, datastore: string, held: Held): Promise<void> {
  const [first, ...others] = await holdsOf(table, datastore, held);
  if (!first) return;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  throw new SchemalessError(
    'held',
    `Nothing erased: ${held.row_key ?? held.subject} is held by ${first.hold}${more}, since ${first.requested_at}: ${first.reason}`,
    { field: held.row_key === undefined ? 'subject' : 'row_key', more: { hold: first.hold } },
  );
}

/** Which of some rows are held. */
export async function heldRows(
  table: DynamoTable,
  datastore: string,
  rowKeys: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const mark = await readState(table, markKey(datastore));
  if (!mark) return new Set();
  const found = await Promise.all(
    [...rowKeys].map(async (row_key) => ({ row_key, holds: await holdsOf(table, datastore, { row_key }) })),
  );
  return new Set(found.filter(({ holds }) => holds.length > 0).map(({ row_key }) => row_key));
}

/** What may have bodies that are out of their retention, since it is not held any more. */
export interface Released {
  readonly rows: readonly string[];
  /** How often there were too many of them: all rows are looked at again then. */
  readonly again: number;
}

export async function readReleased(table: DynamoTable, datastore: string): Promise<Released> {
  const mark = await readState(table, markKey(datastore));
  return { rows: mark?.['released']?.SS ?? [], again: Number(mark?.['again']?.N ?? 0) };
}

/** What is out of their retention was looked for. */
export async function forgetReleased(table: DynamoTable, datastore: string, rowKeys: readonly string[]): Promise<void> {
  if (rowKeys.length === 0) return;
  await updateState(table, {
    key: markKey(datastore),
    update: 'DELETE #released :rows',
    condition: 'attribute_exists(#released)',
    values: { ':rows': { SS: [...rowKeys] } },
  });
}

/** Holds of one row or subject, at most: they are in one item. */
export const MOST_HOLDS = 100;

/**
 * Puts a hold where there is none of its name.
 *
 * @returns the hold as it is then; undefined where there are too many of what is held
 */
export async function putHold(
  table: DynamoTable,
  datastore: string,
  held: Held,
  hold: Hold,
): Promise<Hold | undefined> {
  // First: who looks for none of them looks no further.
  await updateState(table, { key: markKey(datastore), update: 'SET #any = :yes', values: { ':yes': { BOOL: true } } });
  return changeItem(table, keyOf(datastore, held), (item) => {
    const before = toHolds(item);
    const same = before.find((one) => one.hold === hold.hold);
    if (same || before.length === MOST_HOLDS) return { result: same };
    return { values: { holds: { S: JSON.stringify([...before, hold]) } }, result: hold };
  });
}

/**
 * Releases a hold.
 *
 * @param isRetained whether the datastore has rules of retention now, by which somebody has to look at the row
 * @returns undefined where there was none
 */
export async function releaseHold(
  table: DynamoTable,
  datastore: string,
  held: Held & { readonly hold: string },
  isRetained: () => Promise<boolean>,
): Promise<Hold | undefined> {
  const { row_key, hold } = held;
  // First: whoever dies in between leaves a row to be looked at that is held, which is passed over.
  const wasRetained = row_key !== undefined && (await isRetained());
  if (wasRetained) await noteReleased(table, datastore, row_key);
  const released = await changeItem(table, keyOf(datastore, held), (item) => {
    const before = toHolds(item);
    const found = before.find((one) => one.hold === hold);
    if (!found) return { result: undefined };
    return { values: { holds: { S: JSON.stringify(before.filter((one) => one !== found)) } }, result: found };
  });
  // Rules that came meanwhile may have been followed while it was held.
  if (row_key !== undefined && !wasRetained && (await isRetained())) await noteReleased(table, datastore, row_key);
  return released;
}

/** Rows that wait to be looked at, at most: they are in one item. */
const MOST_RELEASED = 4000;

async function noteReleased(table: DynamoTable, datastore: string, row_key: string): Promise<void> {
  const key = markKey(datastore);
  const noted = await updateState(table, {
    key,
    update: 'ADD #released :row',
    condition: 'attribute_not_exists(#released) OR size(#released) < :most',
    values: { ':row': { SS: [row_key] }, ':most': { N: String(MOST_RELEASED) } },
  });
  if (noted) return;
  await updateState(table, {
    key,
    update: 'ADD #again :one REMOVE #released',
    values: { ':one': { N: '1' } },
  });
}

/** A page of all: the state table is read from end to end, as few ask for it. */
export async function listHolds(
  table: DynamoTable,
  datastore: string,
  after: string | undefined,
  limit: number,
): Promise<HoldPage> {
  const prefix = prefixOf(datastore);
  const holds: Hold[] = [];
  let items = 0;
  let last: string | undefined;
  const pages = scanState(table, prefix, { after: after === undefined ? undefined : `${prefix}${after}` });
  for await (const page of pages)
    for (const item of page.items) {
      const ofItem = toHolds(item);
      if (ofItem.length === 0) continue;
      if (items === limit) return { holds, next: last ?? null };
      holds.push(...ofItem);
      items += 1;
      last = item['pk']?.S?.slice(prefix.length);
    }
  return { holds, next: null };
}

function toHolds(item: StateItem | undefined): readonly Hold[] {
  return JSON.parse(item?.['holds']?.S ?? '[]') as readonly Hold[];
}
