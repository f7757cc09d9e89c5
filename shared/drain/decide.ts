import type { CopyKind } from '../sql/statements/select-unanswered.ts';

/** Everything that may be concluded about a hint, for the drain and for recovery, without asking a server. */

/** The state of a hint's address on a node; `unlike` bytes are not compared yet, `contrary` is another value. */
export type Shown = 'same' | 'unlike' | 'contrary' | 'erased' | 'missing' | 'silent';

export interface NodeWord {
  readonly shown: Shown;
  readonly writable: boolean;
}

/**
 * - `drain`: every node that could become the writer has the body; the hint may go.
 * - `append`: the writer lacks the cell.
 * - `compare`: the bytes differ; the values have to be compared.
 * - `conflict`: another value is at the address, and cells never change.
 * - `forget`: the cell was erased; the hint goes too.
 * - `wait`: something is not known yet, or not everywhere.
 */
export type CopyAction = 'drain' | 'append' | 'compare' | 'conflict' | 'forget' | 'wait';

/**
 * Decides on one hint. It may go only if each node was heard and shows the body, and at most one takes writes: a silent
 * node may be promoted at that moment. Appends are always safe: an append leaves out what exists, and a writer that may
 * lack cells refuses it. `writer`: what the node that takes appends shows. `nodes`: all that could be promoted, with
 * the writer.
 */
export function decideCopy(writer: Shown, nodes: readonly NodeWord[]): CopyAction {
  if (writer === 'missing') return 'append';
  if (writer === 'contrary') return 'conflict';
  if (writer === 'erased') return 'forget';
  if (writer === 'unlike') return 'compare';
  const isHeard = nodes.length > 0 && nodes.filter(({ writable }) => writable).length <= 1;
  if (writer === 'silent' || !isHeard) return 'wait';
  if (nodes.every(({ shown }) => shown === 'same')) return 'drain';
  return nodes.every(({ shown }) => shown === 'same' || shown === 'unlike') ? 'compare' : 'wait';
}

export interface CountedCopy {
  readonly body: string;
  readonly kind: CopyKind;
}

/**
 * Returns the hints of an address that say what was acknowledged there, in a restored log.
 *
 * - A drained one was stored, and shown by every node: no other counts.
 * - Else unanswered ones, whose writers may have been told `stored`.
 * - Else answered ones, which the drain may have stored since. Two such bodies are left to the drain.
 */
export function thoseThatCount<Copy extends CountedCopy>(copies: readonly Copy[]): readonly Copy[] {
  for (const kind of ['drained', 'unanswered', 'answered'] as const) {
    const bodies = new Set(copies.filter((copy) => copy.kind === kind).map(({ body }) => body));
    if (kind === 'answered' && bodies.size > 1) return [];
    if (bodies.size > 0) return copies.filter(({ body }) => bodies.has(body));
  }
  return [];
}
