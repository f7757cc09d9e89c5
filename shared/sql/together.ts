import type { AppendedLog, NumberedCells, Statement } from './client.ts';
import { numberCells } from './statements/number-cells.ts';
import { renumber } from './statements/renumber.ts';

/** What goes to a server as one transaction. */
export interface Together {
  readonly statements: readonly Statement[];
  /** The place among them of the first statement that was asked for; the others follow it. */
  readonly first: number;
}

/**
 * Statements with their appends numbered, see `numberCells`, and behind them what finds the ends of the logs to which
 * others append: those that are never numbered, and the second ones of a shard.
 */
export function numberedTogether(statements: readonly Statement[]): Together {
  const numbered = new Map<string, AppendedLog & { readonly numbered: NumberedCells }>();
  const moved = new Map<string, Statement>();
  const changed = statements.map((statement) => {
    const { log } = statement;
    if (!log) return statement;
    const name = `${log.datastore}/${log.shard}`;
    if (!log.numbered || numbered.has(name) || moved.has(name)) {
      moved.set(name, renumber(log));
      return statement;
    }
    numbered.set(name, { ...log, numbered: log.numbered });
    return { ...statement, ...log.numbered.insert };
  });
  const numbers = numberCells([...numbered.values()]);
  return { statements: [...numbers, ...changed, ...moved.values()], first: numbers.length };
}

/** Statements as they are, and behind them what finds the ends of the logs to which they append. */
export function renumberedTogether(statements: readonly Statement[]): Together {
  const moved = statements.flatMap(({ log }) => (log ? [renumber(log)] : []));
  return { statements: [...statements, ...moved], first: 0 };
}
