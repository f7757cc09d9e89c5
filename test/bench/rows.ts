import type { Measured } from './bench.ts';

/** Makes a row of the table: a figure and its bar, or one that is printed. */
export type RowMaker = (what: string, figure: string, bar?: string, passed?: boolean) => Measured;

/** @param engine that all of the rows were measured on: "MariaDB 10.11.6" */
export function rowsOn(engine: string): RowMaker {
  return (what, figure, bar = 'printed', passed = true) => ({ what, figure, bar, passed, engine });
}
