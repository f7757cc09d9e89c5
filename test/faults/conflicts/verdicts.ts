import type { PutResult } from '../../../shared/cell.ts';
import type { KeptBodies } from './kept-bodies.ts';
import type { Answer } from '../load/ask.ts';
import type { Sample } from '../load/look-back.ts';
import { addressOf } from '../stored-cells.ts';

/** Answers that what is there in the end contradicts. Each cell counts once, with its body. */
export interface Verdicts {
  /** Answered 201, and not there with this body. */
  readonly storedGone: number;
  /** Of those: the body that is there instead was answered 201 too, or 202, or neither. */
  readonly goneFor: Readonly<Record<'stored' | 'buffered' | 'other', number>>;
  /** Answered 201 more than once: rightly so only where a lost disk took the cell meanwhile. */
  readonly storedTwice: number;
  /** Answered 200, and not there with this body. */
  readonly storedBeforeGone: number;
  /** Answered 202, and neither stored nor kept as a conflict. */
  readonly bufferedGone: number;
  /** Answered nothing but 409, and stored. */
  readonly refusedStored: number;
  /** Answered nothing but 409, and a copy is in a buffer table, though no holder had failed meanwhile. */
  readonly refusedCopied: number;
  /** The same where one had: nobody could take it back. No violation. */
  readonly refusedCopiedAfterFailure: number;
  /** Cells, with their bodies, by what they were answered; a cell may be in several. */
  readonly cells: Readonly<Record<PutResult['outcome'], number>>;
}

/**
 * @param cutHolder a group that was promoted without its last changes: its buffer table has copies again that were
 *   taken back
 */
export function judge(answers: readonly Answer[], { stored, buffered }: KeptBodies, cutHolder?: string): Verdicts {
  const byMark = new Map<
    number,
    { readonly address: string; readonly outcomes: Set<PutResult['outcome']>; stored: number; holderFailed: boolean }
  >();
  for (const answer of answers) {
    const { mark, outcome, holderFailed } = answer;
    const known = byMark.get(mark) ?? {
      address: addressOf(answer),
      outcomes: new Set(),
      stored: 0,
      holderFailed: false,
    };
    byMark.set(mark, known);
    known.outcomes.add(outcome);
    known.stored += outcome === 'stored' ? 1 : 0;
    known.holderFailed ||= holderFailed;
  }
  const verdicts = {
    storedGone: 0,
    storedTwice: 0,
    storedBeforeGone: 0,
    bufferedGone: 0,
    refusedStored: 0,
    refusedCopied: 0,
    refusedCopiedAfterFailure: 0,
  };
  const cells = { stored: 0, stored_before: 0, buffered: 0, conflict: 0, unavailable: 0 };
  const goneFor = { stored: 0, buffered: 0, other: 0 };
  const winners = new Map(
    [...byMark].filter(([mark]) => stored.has(mark)).map(([, { address, outcomes }]) => [address, outcomes]),
  );
  for (const [mark, { address, outcomes, stored: times, holderFailed }] of byMark) {
    for (const outcome of outcomes) cells[outcome] += 1;
    const isThere = stored.has(mark);
    const copies = buffered.get(mark) ?? [];
    if (outcomes.has('stored') && !isThere) {
      verdicts.storedGone += 1;
      const winner = winners.get(address);
      goneFor[winner?.has('stored') ? 'stored' : winner?.has('buffered') ? 'buffered' : 'other'] += 1;
    }
    if (times > 1) verdicts.storedTwice += 1;
    if (outcomes.has('stored_before') && !isThere) verdicts.storedBeforeGone += 1;
    if (outcomes.has('buffered') && !isThere && !copies.some(({ state }) => state === 'conflict'))
      verdicts.bufferedGone += 1;
    // Whoever was answered anything else has, or may have, a copy of the same body.
    if (outcomes.size > 1 || !outcomes.has('conflict')) continue;
    if (isThere) verdicts.refusedStored += 1;
    if (copies.length > 0)
      verdicts[
        holderFailed || copies.every(({ holder }) => holder === cutHolder)
          ? 'refusedCopiedAfterFailure'
          : 'refusedCopied'
      ] += 1;
  }
  return { ...verdicts, goneFor, cells };
}

/** Samples of stored cells that were not as stored. */
export interface SampleVerdicts {
  readonly samples: number;
  readonly changed: number;
  readonly missing: number;
  /** Not there while a lost disk explains it. No violation. */
  readonly missingMeanwhile: number;
}

/** @param explained whether a stored cell of this shard may be away at this time, which is epoch milliseconds */
export function judgeSamples(
  samples: readonly Sample[],
  explained: (shard: number, at: number) => boolean,
): SampleVerdicts {
  const missing = samples.filter(({ seen }) => seen === 'missing');
  const meanwhile = missing.filter(({ shard, at }) => explained(shard, at)).length;
  return {
    samples: samples.length,
    changed: samples.filter(({ seen }) => seen === 'other').length,
    missing: missing.length - meanwhile,
    missingMeanwhile: meanwhile,
  };
}
