import type { BenchWorld, Measured } from './bench.ts';
import { sideBySide, type Sides } from './side-by-side.ts';

/** Makes a row of the table: a result and its bar, or a result without one. */
type RowMaker = (what: string, result: string, bar?: string, passed?: boolean) => Measured;

/** Rows that are printed as they are measured. */
export interface Rows {
  readonly measured: readonly Measured[];
  add(...row: Parameters<RowMaker>): void;
  /** Measures a ratio with its range and both rates, and checks it against the bar of the sides, if any. */
  compare(what: string, sides: Sides): Promise<void>;
}

/** @param engine the engine of all rows: "MariaDB 10.11.6" */
export function rowsOn(engine: string): RowMaker {
  return (what, result, bar = 'printed', passed = true) => ({ what, result, bar, passed, engine });
}

/** @param every the options of all comparisons that do not override them */
export function tellRows(
  engine: string,
  { say, signal }: Pick<BenchWorld, 'say' | 'signal'>,
  every: Partial<Sides>,
): Rows {
  const measured: Measured[] = [];
  const add: Rows['add'] = (...row) => {
    const made = rowsOn(engine)(...row);
    measured.push(made);
    say(`${made.what}: ${made.result}`);
  };
  return {
    measured,
    add,
    async compare(what, sides) {
      const { bar } = sides;
      const { ratio, least, most, ours, theirs, toBare } = await sideBySide({ ...every, ...sides }, signal);
      const bare = toBare === undefined ? '' : `; ${toBare.toFixed(2)} of what leaves bodies as they are`;
      add(
        what,
        `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)}; ${ours.toFixed(0)}, ${theirs.toFixed(0)} a second${bare})`,
        bar === undefined ? undefined : `≥ ${bar}`,
        bar === undefined || ratio >= bar,
      );
    },
  };
}
