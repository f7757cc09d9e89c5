import { describe, expect, it } from 'vitest';
import type { Answer } from '../load/ask.ts';
import { judgeAnswers } from './judge-answers.ts';
import { addressOf, type CellThere } from '../stored-cells.ts';

const address = { row_key: '6e3a0f9c-0000-4000-8000-000000000001', column_name: 'BASE', ref_key: 1 };
const cell: CellThere = { mark: 7, shard: 3, added_id: 5, createdAt: 1000 };
const there = new Map([[addressOf(address), cell]]);
const answer = (differing: Partial<Answer>): Answer => ({
  ...address,
  mark: 7,
  shard: 3,
  added_id: 5,
  outcome: 'stored',
  begun: 990,
  ended: 1010,
  milliseconds: 20,
  hintFailed: false,
  ...differing,
});
const untrue = (...answers: readonly Answer[]): number => judgeAnswers(answers, there).untrue;

describe('an answer compared with the stored cells', () => {
  it('is true if body, added id and time match', () => {
    expect(
      untrue(
        answer({}),
        answer({ outcome: 'stored_before', begun: 2000, ended: 2001 }),
        answer({ outcome: 'conflict', mark: 8 }),
        answer({ outcome: 'unavailable', added_id: 0 }),
      ),
    ).toBe(0);
    expect(untrue(answer({ outcome: 'buffered', added_id: 0, begun: 900, ended: 910 }))).toBe(0);
  });

  it('is false if the cell was there before, came later, or differs', () => {
    expect(untrue(answer({ begun: 1001 }))).toBe(1);
    expect(untrue(answer({ outcome: 'stored_before', begun: 900, ended: 999 }))).toBe(1);
    expect(untrue(answer({ mark: 8 }))).toBe(1);
    expect(untrue(answer({ added_id: 6 }))).toBe(1);
    expect(untrue(answer({ shard: 4 }))).toBe(1);
    expect(untrue(answer({ outcome: 'conflict' }))).toBe(1);
    expect(untrue(answer({}), answer({}))).toBe(1);
    expect(untrue(answer({ ref_key: 2, outcome: 'buffered' }))).toBe(1);
  });

  it('counts writers that were left without the truth', () => {
    expect(judgeAnswers([answer({ outcome: 'unavailable' })], there)).toMatchObject({ open: 1, untold: 1 });
    const early = answer({ outcome: 'unavailable', begun: 900, ended: 950 });
    expect(judgeAnswers([early], there)).toMatchObject({ open: 1, untold: 0 });
    const buffered = [answer({ outcome: 'buffered' }), answer({ outcome: 'stored_before', ended: 1100 })];
    expect(judgeAnswers(buffered, there)).toMatchObject({ open: 0, untold: 0, bufferedThere: 1 });
  });
});
