import { describe, expect, it } from 'vitest';
import { openTurns } from '../../../shared/drain/turns.ts';

describe('shards that are asked by themselves, since they are slow', () => {
  it('take every other turn at most from those that are not', () => {
    const turns = openTurns(
      () => 0,
      () => 0,
    );
    turns.have(Array.from({ length: 6 }, (_, shard) => ({ datastore: 'trips', shard })));
    for (const turn of [...turns.shards.values()].slice(0, 4)) turns.askAlone(turn);
    const taken = Array.from({ length: 4 }, () => {
      const some = turns.next();
      for (const turn of some) {
        const { isAlone } = turn;
        turns.pass(turn, 1);
        if (isAlone) turns.askAlone(turn);
      }
      return some.map(({ shard }) => shard);
    });
    expect(taken).toEqual([[0], [4, 5], [1], [4, 5]]);
  });

  it('go round among themselves where no other is due', () => {
    const turns = openTurns(
      () => 0,
      () => 0,
    );
    turns.have([0, 1].map((shard) => ({ datastore: 'trips', shard })));
    for (const turn of turns.shards.values()) turns.askAlone(turn);
    expect(turns.next().map(({ shard }) => shard)).toEqual([0]);
    expect(turns.next()).toHaveLength(1);
  });
});
