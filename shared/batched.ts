interface Batching<Item, Result> {
  /** Does some items at once, with results in order; a failure is all items' failure. */
  readonly run: (items: readonly [Item, ...Item[]]) => Promise<readonly Result[]>;
  /** Runs at once; later items wait for one batch. */
  readonly atOnce: number;
  readonly fits: (taken: readonly [Item, ...Item[]], next: Item) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Batches work that comes while `atOnce` runs are under way. No item joins a run that began before it came. */
export function batched<Item, Result>({ run, atOnce, fits }: Batching<Item, Result>): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let isDue = false;
  /** The last run had one item: the next is not likely to have company either. */
  let isLonely = true;

  function take(first: Waiting<Item, Result>, others: readonly Waiting<Item, Result>[]): Waiting<Item, Result>[] {
    const items: [Item, ...Item[]] = [first.item];
    const taken = [first];
    waiting = [];
    for (const one of others) {
      if (fits(items, one.item)) {
        items.push(one.item);
        taken.push(one);
      } else waiting.push(one);
    }
    return taken;
  }

  async function runAlone(item: Item): Promise<Result> {
    running += 1;
    isLonely = true;
    try {
      const [result] = await run([item]);
      return result as Result;
    } finally {
      running -= 1;
      if (waiting.length > 0) runDue();
    }
  }

  async function runSome(some: readonly Waiting<Item, Result>[]): Promise<void> {
    running += 1;
    isLonely = some.length === 1;
    try {
      const results = await run(some.map(({ item }) => item) as [Item, ...Item[]]);
      for (const [position, { resolve }] of some.entries()) resolve(results[position] as Result);
    } catch (error) {
      for (const { reject } of some) reject(error);
    } finally {
      running -= 1;
      runDue();
    }
  }

  function runDue(): void {
    isDue = false;
    while (running < atOnce) {
      const [first, ...others] = waiting;
      if (!first) return;
      void runSome(take(first, others));
    }
  }

  return (item) => {
    if (isLonely && running === 0 && waiting.length === 0) return runAlone(item);
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isDue || running >= atOnce) return;
      isDue = true;
      // After all items of this turn of the event loop have come.
      setImmediate(runDue);
    });
  };
}

export function batchedByKey<Item, Result>(
  batching: Batching<Item, Result>,
  keyOf: (item: Item) => string | number,
): (item: Item) => Promise<Result> {
  const lanes = new Map<string | number, (item: Item) => Promise<Result>>();
  return (item) => {
    const key = keyOf(item);
    let join = lanes.get(key);
    if (!join) lanes.set(key, (join = batched(batching)));
    return join(item);
  };
}
