import type { Purge } from '../../contract/retention-operations.ts';
import { changeItem } from '../../dynamo/change-item.ts';
import { readState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

/** The purge of a datastore that was asked for last: `purge#trips` of the state table. */
const keyOf = (datastore: string): string => `purge#${datastore}`;

/** How far it is on a group. */
export interface PurgePlace {
  /** The last table that was written anew, `DATABASE.TABLE`; empty: none was. */
  readonly after: string;
  /** The one that was begun behind that, and when it had been written anew before. */
  readonly begun?: { readonly name: string; readonly createdAt: string };
  /** Those up to there that refused, and why: they are tried again behind the others. @default none */
  readonly failed?: Readonly<Record<string, string>>;
  /** When its servers' own logs are written over again, in Unix milliseconds, and how long after the time before. */
  readonly writeOverAt?: number;
  readonly writeOverMs?: number;
  /** What hindered it the last time, and how often in a row anything has. @default nothing has */
  readonly hindered?: { readonly why: string; readonly times: number };
  /** Bytes of its servers' redo logs that were written over since undo logs were cut. @default these are not cut yet */
  readonly writtenOver?: number;
  /** All were, and what of the servers' own logs was not written over, and why. */
  readonly isDone?: true;
  readonly left?: string;
}

export interface PurgeState {
  readonly purge: Purge;
  /** By group. */
  readonly places: Readonly<Record<string, PurgePlace>>;
}

export async function readPurge(table: DynamoTable, datastore: string): Promise<PurgeState | undefined> {
  return toState(await readState(table, keyOf(datastore)));
}

/** Begins one, unless one goes on. Returns the one that goes on then. */
export async function beginPurge(table: DynamoTable, datastore: string, caller: string): Promise<Purge> {
  const asked: PurgeState = {
    purge: {
      state: 'purging',
      requested_by: caller,
      requested_at: new Date().toISOString(),
      purged_at: null,
      tables: 0,
      of: 0,
      bytes_before: 0,
      bytes_after: 0,
      waits_for: null,
      logs_left: null,
    },
    places: {},
  };
  return changeItem(table, keyOf(datastore), (item) => {
    const before = toState(item);
    if (before?.purge.state === 'purging') return { result: before.purge };
    return { values: { purge: { S: JSON.stringify(asked) } }, result: asked.purge };
  });
}

/**
 * Writes how far it is.
 *
 * @param token of the lease: who had it before writes nothing any more
 * @returns false where another has the lease by now
 */
export function writePurge(table: DynamoTable, datastore: string, token: number, state: PurgeState): Promise<boolean> {
  return changeItem(table, keyOf(datastore), (item) => {
    if (Number(item?.['token']?.N ?? 0) > token) return { result: false };
    return { values: { purge: { S: JSON.stringify(state) }, token: { N: String(token) } }, result: true };
  });
}

function toState(item: StateItem | undefined): PurgeState | undefined {
  const text = item?.['purge']?.S;
  return text === undefined ? undefined : (JSON.parse(text) as PurgeState);
}
