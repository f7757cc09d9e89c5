import { addressOf } from '../stored-cells.ts';
import type { Answer } from './ask.ts';
import type { StoredCell } from './look-back.ts';

/** What the writers of one thread were told. */
export class Book {
  readonly answers: Answer[] = [];
  /** The first cells of calls that stored them, where they are looked at later. */
  readonly stored: StoredCell[] = [];
  /** Without those to whoever tried another body: there a conflict is the truth. */
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
