import type { AppendedLog, Statement } from './client.ts';
import { forgetEnds, numberCells } from './statements/number-cells.ts';
import { renumber } from './statements/renumber.ts';

export interface Together {
  readonly statements: readonly Statement[];
  readonly first: number;
  /** Appends are numbered: one that changed nothing was not ready for it. */
  readonly isNumbered?: true;
}

/** Numbers appends, see `numberCells`, unless they are several of one shard or need look-ups. */
export function numberedTogether(statements: readonly Statement[]): Together {
  const logs = logsOf(statements);
  const rows = logs.map((ofShard): AppendedLog => {
    const [only] = ofShard as readonly [AppendedLog, ...AppendedLog[]];
    if (ofShard.length === 1) return only;
    const { numbered: _numbered, ...plain } = only;
    return plain;
  });
  const numbered = new Set(rows.filter((row) => row.numbered));
  if (numbered.size === 0) return plainTogether(statements);
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
export function plainTogether(statements: readonly Statement[]): Together {
  const unknown = forgetEnds(logsOf(statements).flat());
  return { statements: [...unknown, ...statements], first: unknown.length };
}

/** The same, then finds the ends of the logs for the next numbering. */
export function renumberedTogether(statements: readonly Statement[]): Together {
  const plain = plainTogether(statements);
  const ends = logsOf(statements).map(([log]) => renumber(log as AppendedLog));
  return { ...plain, statements: [...plain.statements, ...ends] };
}

function logsOf(statements: readonly Statement[]): readonly (readonly AppendedLog[])[] {
  const byShard = new Map<string, AppendedLog[]>();
  for (const { log } of statements) {
    if (!log) continue;
    const name = `${log.datastore}/${log.shard}`;
    const known = byShard.get(name);
    if (known) known.push(log);
    else byShard.set(name, [log]);
  }
  return [...byShard.values()];
}
