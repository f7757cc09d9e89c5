import type { AppendedLog, Statement } from './client.ts';
import { forgetEnds } from './statements/forget-ends.ts';
import { numberCells } from './statements/number-cells.ts';
import { renumber } from './statements/renumber.ts';

/** What goes to a server as one transaction. */
export interface Together {
  readonly statements: readonly Statement[];
  /** The place among them of the first statement that was asked for; the others follow it. */
  readonly first: number;
  /** Appends are numbered: one that changed nothing may have been none that could. */
  readonly isNumbered?: true;
}

/**
 * Statements with their appends numbered, see `numberCells`. Those that never are, of restored cells, or of a shard of
 * which something was erased, go as they are; so do several of one shard.
 */
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

/** Statements as they are. Where the logs end to which they append is not known from then on. */
export function plainTogether(statements: readonly Statement[]): Together {
  const unknown = forgetEnds(logsOf(statements).flat());
  return { statements: [...unknown, ...statements], first: unknown.length };
}

/** The same, and behind them what finds the ends of the logs, for who numbers next. */
export function renumberedTogether(statements: readonly Statement[]): Together {
  const plain = plainTogether(statements);
  const ends = logsOf(statements).map(([log]) => renumber(log as AppendedLog));
  return { ...plain, statements: [...plain.statements, ...ends] };
}

/** By shard. */
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
