import type { CopyKind } from '../sql/statements/select-unanswered.ts';

/**
 * What may be concluded of a buffered write: every case, in one place, without a word to a server. The drain asks
 * `decideCopy` of each copy; whoever brings back what a promoted writer lacks asks `decideAddress` of each address.
 */

/**
 * What a node shows at a copy's address: the copy's bytes, another encoding of an equal value or of who knows what
 * (`unlike`, until both are compared), another value (`contrary`), what is left of a body that was erased, no cell; or
 * it says nothing of this shard (`silent`).
 */
export type Shown = 'same' | 'unlike' | 'contrary' | 'erased' | 'missing' | 'silent';

/** What one node of the primary says of a copy. */
export interface NodeWord {
  readonly shown: Shown;
  /** It takes writes. */
  readonly writable: boolean;
}

/**
 * - `drain`: every node that could ever be the writer has the body; the copy may go.
 * - `append`: the writer lacks the cell.
 * - `compare`: the bytes differ; whether the values do has to be looked at.
 * - `conflict`: another value is at the address, and cells never change.
 * - `forget`: what was there was erased, and the copy is to go, too.
 * - `wait`: something is not known yet, or not everywhere.
 */
export type CopyAction = 'drain' | 'append' | 'compare' | 'conflict' | 'forget' | 'wait';

/**
 * What to do with one copy.
 *
 * It may go only when each node was heard, each shows the body, and no more than one takes writes: a silent one may
 * be promoted at that very moment, also where none of the others says that it is the writer. Appends are always safe,
 * since the append itself leaves out what is there, and is refused by a writer that may lack acknowledged cells.
 *
 * @param writer what the node shows that appends would go to
 * @param nodes all that could be promoted, the writer among them
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

/** A copy at an address, and what it says of its write. */
export interface CountedCopy {
  /** Equal where the bytes are. */
  readonly body: string;
  readonly kind: CopyKind;
}

/**
 * The copies at an address that say what may have been acknowledged there, where a log was set back in time.
 *
 * - What was drained was stored, and shown by every node: what else waits came to nothing, whatever its writer was told.
 * - Else what somebody may have been told is stored.
 * - Else what was answered `buffered`, which the drain may have stored since. Two such bodies are the drain's: the first
 *   to be appended is stored, as it would have been.
 */
export function thoseThatCount<Copy extends CountedCopy>(copies: readonly Copy[]): readonly Copy[] {
  for (const kind of ['drained', 'unanswered', 'answered'] as const) {
    const bodies = new Set(copies.filter((copy) => copy.kind === kind).map(({ body }) => body));
    if (kind === 'answered' && bodies.size > 1) return [];
    if (bodies.size > 0) return copies.filter(({ body }) => bodies.has(body));
  }
  return [];
}

/**
 * - `leave`: nobody can have been told that something is stored there.
 * - `append`: the one body that may have been acknowledged.
 * - `wait`: two may have been, or are still under way and are about to give way.
 * - `report`: two may have been, and whoever was under way has ended: an operator has to say which.
 */
type AddressAction<Body> =
  | { readonly action: 'leave' | 'wait' | 'report' }
  | { readonly action: 'append'; readonly body: Body };

/**
 * What to do at one address where a writer that may lack acknowledged cells shows none, before it takes appends again.
 * Never chooses between two bodies that somebody may have been told are stored: the one that came first may be of a
 * writer that died before it appended, and the other may have been acknowledged.
 *
 * @param bodies all that wait for the address on any group and may have been acknowledged: a copy of which every writer
 *   was answered `buffered` is the drain's work, which may come after appends are let in again
 * @param hasWaited longer than a request lives since the bodies were first seen
 */
export function decideAddress<Body>(bodies: readonly Body[], hasWaited: boolean): AddressAction<Body> {
  const [first, ...others] = bodies;
  if (!first) return { action: 'leave' };
  if (others.length === 0) return { action: 'append', body: first };
  return { action: hasWaited ? 'report' : 'wait' };
}
