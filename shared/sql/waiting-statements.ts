import { SqlError, type SqlChange, type SqlParameter, type Statement } from './client.ts';
import { jointOf, mayGoTogether, sharesOf } from './joint-statements.ts';

/** Each holds its locks until the last is committed; a hundred would save little more than fifty. */
const MOST_STATEMENTS = 50;
/** Small statements do not wait for a large one, in bytes. */
export const MOST_BYTES = 256 * 1024;
/** A statement that waited this long fails as not sent, as one that waits for a connection does. */
export const MOST_WAIT_MS = 2000;

export interface Waiting {
  readonly statement: Statement;
  readonly since: number;
  readonly bytes: number;
  /** It was taken back once for another statement's duplicate. */
  readonly isSecond?: true;
  readonly resolve: (change: SqlChange | Promise<SqlChange>) => void;
  readonly reject: (error: unknown) => void;
}

/** Changes that wait for a transaction, in order. */
export class WaitingStatements {
  #all: Waiting[] = [];

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  push(one: Waiting): void {
    this.#all.push(one);
  }

  putBack(some: readonly Waiting[]): void {
    this.#all = [...some, ...this.#all];
  }

  /** Takes the first that fit into one transaction, none of them of a locked table. */
  take(locked: ReadonlySet<string>): readonly Waiting[] {
    let count = 0;
    let bytes = 0;
    const byShard = new Map<string, Statement[]>();
    return this.takeIf(({ statement, bytes: size }) => {
      const fits = count < MOST_STATEMENTS && (count === 0 || bytes + size <= MOST_BYTES);
      if (!fits || locked.has(tableOf(statement))) return false;
      const shard = statement.log && `${statement.log.datastore}/${statement.log.shard}`;
      const ofShard = shard === undefined ? [] : (byShard.get(shard) ?? []);
      if (!mayGoTogether(ofShard, statement)) return false;
      if (shard !== undefined) byShard.set(shard, [...ofShard, statement]);
      if (ofShard.length === 0 || jointOf(statement) === undefined) count += 1;
      bytes += size;
      return true;
    });
  }

  /** Takes all once the first has waited too long, except those that have not. */
  takeLate(): readonly Waiting[] {
    const before = performance.now() - MOST_WAIT_MS;
    const [longest] = this.#all;
    return longest && longest.since <= before ? this.takeIf(({ since }) => since <= before) : [];
  }

  takeUnwanted(): readonly Waiting[] {
    const isTaken = ({ statement }: Waiting): boolean => isUnwanted(statement);
    return this.#all.some(isTaken) ? this.takeIf(isTaken) : [];
  }

  takeAll(): readonly Waiting[] {
    return this.#all.splice(0);
  }

  takeIf(isTaken: (one: Waiting) => boolean): readonly Waiting[] {
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const one of this.#all) (isTaken(one) ? taken : left).push(one);
    this.#all = left;
    return taken;
  }
}

export function isUnwanted({ isWanted }: Statement): boolean {
  return isWanted?.() === false;
}

export function unwanted(): SqlError {
  return new SqlError('unreachable', 'not wanted any more: nothing was sent', { poolExhausted: true });
}

export function tableOf({ table = '' }: Statement): string {
  return table;
}

export function bytesOf(parameters: readonly SqlParameter[]): number {
  let bytes = 0;
  for (const value of parameters) if (typeof value === 'object' && value !== null) bytes += value.length;
  return bytes;
}

export function statementsOf(some: readonly Waiting[]): readonly Statement[] {
  return some.map(({ statement }) => statement);
}

/** Tells the senders of a joint statement what it changed. */
export function tell(some: readonly Waiting[], change: SqlChange, hasNotified: boolean): void {
  const shares = sharesOf(change, statementsOf(some));
  for (const [position, { statement, resolve }] of some.entries()) {
    const share = shares[position] as SqlChange;
    resolve(hasNotified && statement.moves ? { ...share, hasNotified } : share);
  }
}
