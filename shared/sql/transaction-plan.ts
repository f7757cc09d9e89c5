import type { AppendedLog, Statement } from './client.ts';
import { forgetEnds, numberCells } from './statements/number-cells.ts';
import { renumber } from './statements/renumber.ts';

export interface TransactionPlan {
  readonly statements: readonly Statement[];
  readonly first: number;
  /** Appends are numbered: one that changed nothing was not ready for it. */
  readonly isNumbered?: true;
}

/** Numbers appends, see `numberCells`, unless they are several of one shard or need look-ups. */
export function numberedPlan(statements: readonly Statement[]): TransactionPlan {
  const logs = logsOf(statements);
  const rows = logs.map((ofShard): AppendedLog => {
    const [only] = ofShard as readonly [AppendedLog, ...AppendedLog[]];
    if (ofShard.length === 1) return only;
    const { numbered: _numbered, ...plain } = only;
    return plain;
  });
  const numbered = new Set(rows.filter((row) => row.numbered));
  if (numbered.size === 0) return plainPlan(statements);
  const numbers = numberCells(rows);
  return {
    statements: [
      ...numbers,
      ...statements.map((one) =>
        one.log?.numbered && numbered.has(one.log) ? { ...one, ...one.log.numbered.insert } : one,
      ),
    ],
    first: numbers.length,
    isNumbered: true,
  };
}

/** Leaves statements as they are, and forgets where their logs end. */
export function plainPlan(statements: readonly Statement[]): TransactionPlan {
  const unknown = forgetEnds(logsOf(statements).flat());
  return { statements: [...unknown, ...statements], first: unknown.length };
}

/** The same, then finds the ends of the logs for the next numbering. */
export function renumberedPlan(statements: readonly Statement[]): TransactionPlan {
  const plain = plainPlan(statements);
  const ends = logsOf(statements).map(([log]) => renumber(log as AppendedLog));
  return { ...plain, statements: [...plain.statements, ...ends] };
}

function logsOf(statements: readonly Statement[]): readonly (readonly AppendedLog[])[] {
  const logs = statements.flatMap(({ log }) => log ?? []);
  return [...Map.groupBy(logs, ({ datastore, shard }) => `${datastore}/${shard}`).values()];
}
