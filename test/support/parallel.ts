/**
 * Works through what a source gives, so many items at a time. When the signal is aborted or one item fails, no more
 * items are taken, and that reason is thrown once the items in hand are done.
 */
export async function inParallel<Item>(
  source: Iterable<Item>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const items = source[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      try {
        signal.throwIfAborted();
        const next = items.next();
        if (next.done === true) return;
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failures.length > 0) throw failures[0];
}

/** The items of a source in arrays of `size`; the last one may be shorter. */
export function* inChunks<Item>(source: Iterable<Item>, size: number): Generator<readonly Item[], void> {
  let chunk: Item[] = [];
  for (const item of source) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
