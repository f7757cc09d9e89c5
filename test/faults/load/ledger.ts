import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { countsLine, sumOf } from '../fault-run.ts';
import { toldOf, type Answer, type Told } from './ask.ts';
import { addressOf, type AckedCell } from '../stored-cells.ts';
import type { StoredCell } from './check-back.ts';

export type Outcomes = Record<PutResult['outcome'], number>;

export function noOutcomes(): Outcomes {
  return { stored: 0, stored_before: 0, buffered: 0, conflict: 0, erased: 0, subject_forgotten: 0, unavailable: 0 };
}

/** The answers to writers. */
export interface Written {
  readonly acked: readonly AckedCell[];
  /** Answers, including repeats. */
  readonly outcomes: Outcomes;
  /** Answers that contradict an earlier one, the first of them as text. */
  readonly wrong: number;
  readonly wrongExamples: readonly string[];
}

const EXAMPLES = 5;

/** Records every answer, and compares it with earlier answers for the same cell. */
export class Ledger {
  readonly outcomes = noOutcomes();
  readonly #acked = new Map<string, AckedCell>();
  #wrong = 0;
  readonly #examples: string[] = [];

  get size(): number {
    return this.#acked.size;
  }

  note(cell: NewCell, result: PutResult): void {
    this.noteTold(toldOf(cell, result));
  }

  noteTold({ row_key, column_name, ref_key, mark, shard, outcome, added_id }: Told): void {
    this.outcomes[outcome] += 1;
    if (outcome === 'unavailable') return;
    const address = addressOf({ row_key, column_name, ref_key });
    // No cell is ever written with two bodies here.
    if (outcome === 'conflict') return this.#isWrong(`conflict at ${address}`);
    const known = this.#acked.get(address);
    if (known && known.added_id > 0) {
      if (added_id > 0 && known.added_id !== added_id)
        this.#isWrong(`${address} was ${known.added_id}, then ${added_id}`);
      if (outcome === 'stored') this.#isWrong(`${address} was stored twice`);
      return;
    }
    this.#acked.set(address, { row_key, column_name, ref_key, mark, shard, added_id });
  }

  written(): Written {
    return {
      acked: [...this.#acked.values()],
      outcomes: this.outcomes,
      wrong: this.#wrong,
      wrongExamples: this.#examples,
    };
  }

  #isWrong(text: string): void {
    this.#wrong += 1;
    if (this.#examples.length < EXAMPLES) this.#examples.push(text);
  }
}

/**
 * @param overlap calls overlapped: the writer that stored a cell may learn it after others were told that it was there,
 * and is recorded first. The times are for `judgeAnswers` then.
 */
export function writtenOf(answers: readonly Told[], overlap: boolean): Written {
  const ledger = new Ledger();
  const isStored = ({ outcome }: Told): boolean => outcome === 'stored';
  for (const told of overlap ? [...answers.filter(isStored), ...answers.filter((one) => !isStored(one))] : answers)
    ledger.noteTold(told);
  return ledger.written();
}

export function allWritten(parts: readonly Written[]): Written {
  const outcomes = noOutcomes();
  for (const part of parts) {
    for (const outcome of Object.keys(outcomes) as (keyof Outcomes)[]) outcomes[outcome] += part.outcomes[outcome];
  }
  return {
    acked: parts.flatMap(({ acked }) => acked),
    outcomes,
    wrong: sumOf(parts.map(({ wrong }) => wrong)),
    wrongExamples: parts.flatMap(({ wrongExamples }) => wrongExamples).slice(0, EXAMPLES),
  };
}

/** "stored 9, stored_before 1, …" */
export function outcomesLine(outcomes: Outcomes): string {
  return `answers: ${countsLine(outcomes)}`;
}

/** The answers to the writers of one thread. */
export class Book {
  readonly answers: Answer[] = [];
  /** The first cells of calls that stored them, if they are read later. */
  readonly stored: StoredCell[] = [];
  /** Excludes answers to another body for the address: there a conflict is the truth. */
  readonly ofRecord: Answer[] = [];
  readonly #confirmed = new Set<string>();

  get acked(): number {
    return this.#confirmed.size;
  }

  note(answers: readonly Answer[], isOfRecord: boolean): void {
    this.answers.push(...answers);
    if (!isOfRecord) return;
    this.ofRecord.push(...answers);
    for (const answer of answers) if (answer.outcome !== 'unavailable') this.#confirmed.add(addressOf(answer));
  }
}
