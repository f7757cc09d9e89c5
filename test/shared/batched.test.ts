import { describe, expect, it } from 'vitest';
import { batched, batchedByKey } from '../../shared/batched.ts';

interface Run {
  readonly items: readonly number[];
  readonly end: (error?: Error) => void;
}

function manual(atOnce: number, fits: (taken: readonly number[], next: number) => boolean = () => true) {
  const runs: Run[] = [];
  const join = batched<number, number>({
    atOnce,
    fits,
    run: (items) =>
      new Promise(
        (resolve, reject) =>
          void runs.push({ items, end: (error) => (error ? reject(error) : resolve(items.map((item) => item * 2))) }),
      ),
  });
  const begun = async (): Promise<(readonly number[])[]> => {
    await new Promise(setImmediate);
    return runs.map(({ items }) => items);
  };
  return { join, runs, begun };
}

describe('joined work', () => {
  it('goes alone and at once when it comes alone, and together when it comes together', async () => {
    const { join, runs, begun } = manual(2);
    const alone = join(1);
    expect(runs.map(({ items }) => items)).toEqual([[1]]);
    const together = [join(2), join(3)];
    expect(await begun()).toEqual([[1], [2, 3]]);
    for (const { end } of runs) end();
    expect(await Promise.all([alone, ...together])).toEqual([2, 4, 6]);
  });

  it('waits for the others of its turn where the last did not come alone, and not where it did', async () => {
    const { join, runs, begun } = manual(1);
    const results = [join(1), join(2), join(3)];
    runs[0]?.end();
    await begun();
    runs[1]?.end();
    await begun();
    results.push(join(4), join(5));
    expect(await begun()).toEqual([[1], [2, 3], [4, 5]]);
    runs[2]?.end();
    await begun();
    results.push(join(6));
    await begun();
    runs[3]?.end();
    await begun();
    results.push(join(7));
    expect(runs.map(({ items }) => items).slice(3)).toEqual([[6], [7]]);
    runs[4]?.end();
    expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10, 12, 14]);
  });

  it('that comes while as much as may be is under way goes together afterwards: never with what has begun', async () => {
    const { join, runs, begun } = manual(1);
    const results = [join(1)];
    await begun();
    results.push(join(2));
    await begun();
    results.push(join(3));
    expect(await begun()).toEqual([[1]]);
    runs[0]?.end();
    expect(await begun()).toEqual([[1], [2, 3]]);
    runs[1]?.end();
    expect(await Promise.all(results)).toEqual([2, 4, 6]);
  });

  it('that does not fit goes next, in its order, and does not keep others from fitting', async () => {
    const { join, runs, begun } = manual(1, (taken, next) => !taken.includes(next));
    const results = [join(0), join(1), join(1), join(2), join(1)];
    runs[0]?.end();
    expect(await begun()).toEqual([[0], [1, 2]]);
    runs[1]?.end();
    expect(await begun()).toEqual([[0], [1, 2], [1]]);
    runs[2]?.end();
    expect(await begun()).toEqual([[0], [1, 2], [1], [1]]);
    runs[3]?.end();
    expect(await Promise.all(results)).toEqual([0, 2, 2, 4, 2]);
  });

  it('fails together, and what comes later does not', async () => {
    const { join, runs, begun } = manual(1);
    const failing = Promise.allSettled([join(1), join(2), join(3)]);
    runs[0]?.end(new Error('unavailable'));
    expect(await begun()).toEqual([[1], [2, 3]]);
    const later = join(4);
    runs[1]?.end(new Error('unavailable'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await begun();
    runs[2]?.end();
    expect(await later).toBe(8);
  });

  it('of different keys does not wait for each other', async () => {
    const runs: string[] = [];
    const join = batchedByKey<{ readonly key: string; readonly item: number }, number>(
      {
        atOnce: 1,
        fits: () => true,
        run: async (some) => {
          runs.push(some.map(({ key, item }) => `${key}${item}`).join('+'));
          return some.map(({ item }) => item);
        },
      },
      ({ key }) => key,
    );
    const all = [
      join({ key: 'a', item: 1 }),
      join({ key: 'b', item: 2 }),
      join({ key: 'a', item: 3 }),
      join({ key: 'a', item: 4 }),
    ];
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
    expect(runs).toEqual(['a1', 'b2', 'a3+a4']);
  });
});
