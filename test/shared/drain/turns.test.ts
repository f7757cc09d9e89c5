import { expect, it } from 'vitest';
import { openTurns } from '../../../shared/drain/turns.ts';

/** Turns of so many shards at a moment that does not pass, the first of which are asked alone. */
function turnsOf(shards: number, alone: number) {
  const turns = openTurns(
    () => 0,
    () => 0,
  );
  turns.have(Array.from({ length: shards }, (_, shard) => ({ datastore: 'trips', shard })));
  for (const turn of [...turns.shards.values()].slice(0, alone)) turns.askAlone(turn);
  return turns;
}

it.each([
  ['take every other turn at most from those that are not', turnsOf(6, 4), [[0], [4, 5], [1], [4, 5]]],
  ['go round among themselves where no other is due', turnsOf(2, 2), [[0], [1], [0]]],
])('shards that are asked by themselves, since they are slow, %s', (_what, turns, wanted) => {
  const taken = wanted.map(() => {
    const some = turns.next();
    for (const turn of some) {
      const { isAlone } = turn;
      turns.pass(turn, 1);
      if (isAlone) turns.askAlone(turn);
    }
    return some.map(({ shard }) => shard);
  });
  expect(taken).toEqual(wanted);
});
