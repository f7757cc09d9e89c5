import type { EncodedCell } from './encoded-cell.ts';
import type { AppendedLog, Statement } from './client.ts';
import { jointOf, mayJoin } from './joint-statements.ts';
import { appendCells } from './statements/append-cells.ts';
import { insertBuffered } from './statements/insert-buffered.ts';
import { forgetEnds, numberCells } from './statements/number-cells.ts';
import { numberedAppend } from './statements/numbered-append.ts';
import { renumber } from './statements/renumber.ts';

export interface TransactionPlan {
  readonly before: readonly Statement[];
  /** The work of the senders, in their order. */
  readonly parts: readonly PlanPart[];
  readonly after: readonly Statement[];
}

interface PlanPart {
  readonly statement: Statement;
  /** Positions of the statements that it stands for. */
  readonly of: readonly number[];
  /** One that changed nothing was not ready for numbers. */
  readonly isNumbered: boolean;
}

/** Numbers appends, see `numberCells`, unless they need look-ups. */
export function numberedPlan(statements: readonly Statement[]): TransactionPlan {
  const logs = logsOf(statements);
  if (!logs.some(({ cells }) => cells)) return plainPlan(statements);
  const joint = [...Map.groupBy(logs, ({ datastore, shard }) => `${datastore}/${shard}`).values()].map(
    (ofShard): AppendedLog => {
      const [first] = ofShard as [AppendedLog, ...AppendedLog[]];
      return ofShard.length === 1 || !first.cells
        ? first
        : { ...first, cells: ofShard.flatMap(({ cells = [] }) => cells) };
    },
  );
  return { before: numberCells(joint), parts: partsOf(statements, true), after: [] };
}

/** Appends without numbers, and forgets where the logs end. */
export function plainPlan(statements: readonly Statement[]): TransactionPlan {
  return { before: forgetEnds(logsOf(statements)), parts: partsOf(statements, false), after: [] };
}

/** The same, then finds the ends of the logs for the next numbering. */
export function renumberedPlan(statements: readonly Statement[]): TransactionPlan {
  const logs = Map.groupBy(logsOf(statements), ({ datastore, shard }) => `${datastore}/${shard}`);
  return { ...plainPlan(statements), after: [...logs.values()].map(([log]) => renumber(log as AppendedLog)) };
}

function logsOf(statements: readonly Statement[]): readonly AppendedLog[] {
  return statements.flatMap(({ log }) => log ?? []);
}

function partsOf(statements: readonly Statement[], areNumbered: boolean): readonly PlanPart[] {
  const joints = new Map<string | AppendedLog, Part>();
  const parts: Part[] = [];
  for (const [position, statement] of statements.entries()) {
    const joint = jointOf(statement);
    const begun = joint === undefined ? undefined : joints.get(joint);
    if (begun && mayJoin(begun.some, statement)) {
      begun.some.push(statement);
      begun.of.push(position);
      continue;
    }
    const part: Part = { some: [statement], of: [position] };
    parts.push(part);
    if (joint !== undefined) joints.set(joint, part);
  }
  return parts.map(({ some, of }): PlanPart => {
    const [{ log }] = some;
    const isNumbered = areNumbered && log?.cells !== undefined;
    return { of, isNumbered, statement: isNumbered ? joinedOf(some, numberedAppend) : joinedOf(some) };
  });
}

interface Part {
  readonly some: [Statement, ...Statement[]];
  readonly of: number[];
}

/** Joins statements that have one joint, see `jointOf`. */
export function joinedOf(
  some: readonly [Statement, ...Statement[]],
  append?: (log: AppendedLog, cells: readonly EncodedCell[]) => Pick<Statement, 'sql' | 'parameters'>,
): Statement {
  const [first] = some;
  if (some.length === 1 && !append) return first;
  const { log, hints } = first;
  if (hints)
    return insertBuffered(
      hints.datastore,
      some.flatMap((one) => one.hints?.cells ?? []),
    );
  if (!log) throw new Error('wanted appends or hints');
  const cells = some.flatMap((one) => one.log?.cells ?? []);
  const reads = some.flatMap(({ readAfter = [] }) => readAfter);
  return { ...first, ...(append ?? appendCells)(log, cells), ...(reads.length > 0 && { readAfter: reads }) };
}
