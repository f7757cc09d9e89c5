import { SqlError, type SqlParameter, type SqlRow } from '../../../../shared/sql/client.ts';
import type { KeptCell, KeptLog, TableChange, Tables } from './tables.ts';

/** Defects of the simulated servers, for planted bugs. */
export interface ServerFlaws {
  /** The buffer's unique key leaves out the body hash. */
  readonly copiesByAddress?: boolean;
  /** The unique key of addresses does not hold for cells of transactions. */
  readonly repeatsTransactions?: boolean;
}

/** The target of a statement: one server at one moment. */
export interface Execution {
  readonly tables: Tables;
  readonly parameters: readonly SqlParameter[];
  /** Microseconds since 1970, by this server's clock. */
  readonly now: number;
  readonly serverId: number;
  readonly isWritable: boolean;
  /** Committed, but not in this snapshot yet. Locking statements see it all the same. */
  readonly isHidden: (cell: KeptCell) => boolean;
  readonly flaws: ServerFlaws;
}

export interface Written {
  readonly affectedRows: number;
  readonly insertId: number;
  readonly changes: readonly TableChange[];
}

export const NOTHING_WRITTEN: Written = { affectedRows: 0, insertId: 0, changes: [] };

/** Returns the result of changes to rows, one change each. */
export function written(changes: readonly TableChange[]): Written {
  return { affectedRows: changes.length, insertId: 0, changes };
}

export type Plan = { readonly kind: string; readonly shards: readonly number[] } & (
  | { readonly read: (execution: Execution) => SqlRow[]; readonly write?: undefined }
  | { readonly write: (execution: Execution) => Written; readonly read?: undefined }
);

/** Plans a statement by its text; undefined if the text is of another kind. */
export type Planner = (sql: string) => Plan | undefined;

/** Returns the shards whose tables a text names, in its order. */
export function shardsIn(sql: string): number[] {
  return [...sql.matchAll(/_(\d{4,5})`\.`entity`/g)].map(([, digits]) => Number(digits));
}

/** Returns a shard's cells; error 1146 if the server has no such table. */
export function cellsOf({ tables }: Execution, shard: number): KeptLog {
  const log = tables.logs.get(shard);
  if (!log) throw new SqlError('rejected', `shard ${shard} has no table here`, { errno: 1146 });
  return log;
}

/** Returns the cells that a snapshot shows. */
export function shownCells(execution: Execution, shard: number): KeptCell[] {
  return cellsOf(execution, shard).cells.filter((cell) => !execution.isHidden(cell));
}

interface Kinds {
  readonly number: number;
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** Returns bound values in the order in which a text uses them. */
export function bound(parameters: readonly SqlParameter[]) {
  let next = 0;
  const take = (): SqlParameter => {
    const value = parameters[next];
    if (value === undefined) throw new Error(`a statement asks for more than its ${parameters.length} bound values`);
    next += 1;
    return value;
  };
  const one = {
    number: (): number => Number(take()),
    text: (): string => String(take()),
    bytes(): Uint8Array {
      const value = take();
      if (value instanceof Uint8Array) return value;
      throw new Error('a statement wants bytes');
    },
  };
  return {
    ...one,
    /** Returns several, one after the other. */
    some: <const Wanted extends readonly (keyof Kinds)[]>(...wanted: Wanted) =>
      wanted.map((kind) => one[kind]()) as { -readonly [Place in keyof Wanted]: Kinds[Wanted[Place]] },
    nothing(): void {
      if (take() !== null) throw new Error('a statement wants NULL');
    },
    left: (): number => parameters.length - next,
  };
}
