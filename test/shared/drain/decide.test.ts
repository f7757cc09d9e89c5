import { describe, expect, it } from 'vitest';
import { decideCopy, thoseThatCount, type NodeWord, type Shown } from '../../../shared/drain/decide.ts';

const EACH = { same: 0, unlike: 0, contrary: 0, erased: 0, missing: 0, silent: 0 } satisfies Record<Shown, 0>;
const SHOWN = Object.keys(EACH) as readonly Shown[];

function* wordsOf(nodes: number): Generator<readonly NodeWord[]> {
  yield [];
  if (nodes === 0) return;
  for (const others of wordsOf(nodes - 1)) {
    if (others.length < nodes - 1) continue;
    for (const shown of SHOWN) for (const writable of [true, false]) yield [...others, { shown, writable }];
  }
}
const CELLS = SHOWN.flatMap((writer) =>
  [1, 2, 3].flatMap((nodes) => [...wordsOf(nodes)].map((words) => ({ writer, words }))),
);

const breaking = (
  rule: (action: ReturnType<typeof decideCopy>, cell: (typeof CELLS)[number]) => boolean,
  decide = decideCopy,
) => CELLS.filter((cell) => !rule(decide(cell.writer, cell.words), cell));

describe('the action for a copy, in every case', () => {
  it('is to delete it only when every node was heard and shows the body, and no more than one takes writes', () => {
    const rule: Parameters<typeof breaking>[0] = (action, { writer, words }) =>
      action !== 'drain' ||
      (writer === 'same' &&
        words.length > 0 &&
        words.every(({ shown }) => shown === 'same') &&
        words.filter(({ writable }) => writable).length <= 1);
    expect(breaking(rule)).toEqual([]);
    // A table that takes a silent node for the writer, when no other says that it is.
    const believing: typeof decideCopy = (writer, words) =>
      writer === 'same' &&
      words.filter(({ shown, writable }) => writable || shown === 'silent').length <= 1 &&
      words.every(({ shown }) => shown === 'same' || shown === 'silent')
        ? 'drain'
        : 'wait';
    expect(breaking(rule, believing).length).toBeGreaterThan(0);
  });

  it.each<[string, Parameters<typeof breaking>[0]]>([
    [
      'to append it exactly when the writer lacks the cell',
      (action, { writer }) => (action === 'append') === (writer === 'missing'),
    ],
    [
      'to call it a conflict exactly when the writer has another value',
      (action, { writer }) => (action === 'conflict') === (writer === 'contrary'),
    ],
    ['to compare what its bytes alone do not say', (action, { writer }) => writer !== 'unlike' || action === 'compare'],
    [
      'to forget it exactly when the writer has erased its body',
      (action, { writer }) => (action === 'forget') === (writer === 'erased'),
    ],
    ['nothing while the writer is silent', (action, { writer }) => writer !== 'silent' || action === 'wait'],
  ])('is %s', (_what, rule) => {
    expect(breaking(rule)).toEqual([]);
  });
});

describe('which copies at an address say what may have been acknowledged', () => {
  const drained = (body: string) => ({ body, kind: 'drained' as const });
  const unanswered = (body: string) => ({ body, kind: 'unanswered' as const });
  const answered = (body: string) => ({ body, kind: 'answered' as const });

  it.each([
    ['drained copies, before unanswered ones', [unanswered('a'), drained('b')], ['b']],
    ['every drained copy, should one be damaged', [unanswered('b'), answered('b'), drained('b')], ['b', 'b', 'b']],
    ['unanswered copies, before those answered buffered', [answered('a'), unanswered('b')], ['b']],
    [
      'all unanswered copies, among which an operator decides',
      [unanswered('a'), unanswered('b'), answered('c')],
      ['a', 'b'],
    ],
    ['one body that was answered buffered', [answered('a'), answered('a')], ['a', 'a']],
    ['nothing, where two were: the drain stores the first', [answered('a'), answered('b')], []],
    ['nothing, where there is none', [], []],
  ])('%s', (_what, copies, bodies) => {
    expect(thoseThatCount(copies).map(({ body }) => body)).toEqual(bodies);
  });
});
