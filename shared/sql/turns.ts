import type { Statement } from './client.ts';
import { tableOf } from './waiting-statements.ts';

/** A turn that takes longer waits for a lock or a slow server: others no longer wait for it. */
const OVERDUE_MS = 250;

export interface Turn {
  readonly since: number;
  readonly statements: readonly Statement[];
  readonly isTransaction: boolean;
}

/** The transactions and lone statements of a client that are under way. */
export class Turns {
  /** Turns that keep others from beginning, oldest first. */
  readonly #running = new Set<Turn>();
  /** Transactions that passed their places on, but still use connections. */
  readonly #overdue = new Set<Turn>();

  get running(): number {
    return this.#running.size;
  }

  get overdue(): number {
    return this.#overdue.size;
  }

  get isEmpty(): boolean {
    return this.#running.size === 0 && this.#overdue.size === 0;
  }

  begin(statements: readonly Statement[], isTransaction: boolean): Turn {
    const turn: Turn = { since: performance.now(), statements, isTransaction };
    this.#running.add(turn);
    return turn;
  }

  end(turn: Turn): void {
    this.#running.delete(turn);
    this.#overdue.delete(turn);
  }

  /** Returns the tables that overdue transactions may have locked. */
  locked(): ReadonlySet<string> {
    return new Set([...this.#overdue].flatMap(({ statements }) => statements.map(tableOf)));
  }

  /** Takes the places of overdue turns. Returns the tables of lone statements among them. */
  retire(): readonly string[] {
    const tables: string[] = [];
    const now = performance.now();
    for (const turn of this.#running) {
      if (now - turn.since < OVERDUE_MS) break;
      this.#running.delete(turn);
      const [only] = turn.statements;
      if (only && !turn.isTransaction) tables.push(tableOf(only));
      else this.#overdue.add(turn);
    }
    return tables;
  }

  /** Returns the milliseconds until the oldest turn is overdue; 0 without turns. */
  leftMs(): number {
    const [first] = this.#running;
    return first ? first.since + OVERDUE_MS - performance.now() : 0;
  }
}
