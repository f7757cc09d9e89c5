import { check, property, array, boolean, constantFrom, integer, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideAddress, decideCopy, type NodeWord, type Shown } from '../../../shared/drain/decide.ts';

const SHOWN: readonly Shown[] = ['same', 'unlike', 'contrary', 'missing', 'silent'];

/** Every word that up to so many nodes can say. */
function* wordsOf(nodes: number): Generator<readonly NodeWord[]> {
  yield [];
  if (nodes === 0) return;
  for (const others of wordsOf(nodes - 1)) {
    if (others.length < nodes - 1) continue;
    for (const shown of SHOWN) for (const writable of [true, false]) yield [...others, { shown, writable }];
  }
}
const CELLS = SHOWN.flatMap((writer) => [1, 2, 3].flatMap((nodes) => [...wordsOf(nodes)].map((words) => ({ writer, words }))));

/** The cells of the table in which something is concluded that a rule forbids. */
const breaking = (rule: (action: ReturnType<typeof decideCopy>, cell: (typeof CELLS)[number]) => boolean, decide = decideCopy) => CELLS.filter((cell) => !rule(decide(cell.writer, cell.words), cell));

describe('what may be done with a copy, in every case', () => {
  it('is to delete it only when every node was heard and shows the body, and no more than one takes writes', () => {
    const rule: Parameters<typeof breaking>[0] = (action, { writer, words }) =>
      action !== 'drain' || (writer === 'same' && words.length > 0 && words.every(({ shown }) => shown === 'same') && words.filter(({ writable }) => writable).length <= 1);
    expect(breaking(rule)).toEqual([]);
    // A table that takes a silent node for the writer, when no other says that it is.
    const believing: typeof decideCopy = (writer, words) =>
      writer === 'same' && words.filter(({ shown, writable }) => writable || shown === 'silent').length <= 1 && words.every(({ shown }) => shown === 'same' || shown === 'silent') ? 'drain' : 'wait';
    expect(breaking(rule, believing).length).toBeGreaterThan(0);
  });

  it('is to append it exactly when the writer lacks the cell', () => {
    expect(breaking((action, { writer }) => (action === 'append') === (writer === 'missing'))).toEqual([]);
  });

  it('is to call it a conflict exactly when the writer has another value, which its bytes alone never say', () => {
    expect(breaking((action, { writer }) => (action === 'conflict') === (writer === 'contrary'))).toEqual([]);
    expect(breaking((action, { writer }) => writer !== 'unlike' || action === 'compare')).toEqual([]);
  });

  it('is nothing while the writer is silent', () => {
    expect(breaking((action, { writer }) => writer !== 'silent' || action === 'wait')).toEqual([]);
  });
});

describe('what may be done at an address that a promoted writer may have lost', () => {
  const bodies = array(record({ name: integer(), answered: boolean() }), { maxLength: 5 });

  /** Checks a rule for any bodies; gives the case in which it is broken. */
  function brokenBy(rule: (action: ReturnType<typeof decideAddress>, some: readonly { readonly answered: boolean }[], isTaken: boolean, hasWaited: boolean) => boolean) {
    return check(property(boolean(), bodies, constantFrom(true, false), (isTaken, some, hasWaited) => rule(decideAddress(isTaken, some, hasWaited), some, isTaken, hasWaited)), { numRuns: 2000 }).counterexample;
  }

  it('is never to append a body that was answered buffered, nor one of two that may have been acknowledged', () => {
    expect(
      brokenBy((decided, some, isTaken) => {
        const unanswered = some.filter(({ answered }) => !answered);
        return decided.action === 'append' ? !isTaken && unanswered.length === 1 && decided.body === unanswered[0] : true;
      }),
    ).toBeNull();
  });

  it('is to wait for those under way, and to report two bodies only after that', () => {
    expect(
      brokenBy((decided, some, isTaken, hasWaited) => {
        const isOpen = !isTaken && some.filter(({ answered }) => !answered).length > 1;
        return isOpen ? decided.action === (hasWaited ? 'report' : 'wait') : decided.action === 'append' || decided.action === 'leave';
      }),
    ).toBeNull();
  });

  it('is to leave it to the drain only where nothing that may have been acknowledged is missing', () => {
    expect(brokenBy((decided, some, isTaken) => decided.action !== 'leave' || isTaken || some.every(({ answered }) => answered))).toBeNull();
    // The rules can be broken: a table that leaves whatever it is asked about.
    expect(brokenBy((_, some, isTaken) => isTaken || some.every(({ answered }) => answered))).not.toBeNull();
  });
});
