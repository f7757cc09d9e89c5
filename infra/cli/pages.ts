interface Found<Item, Next> {
  readonly items: readonly Item[];
  readonly next: Next | null;
}

/** The most that the API gives at once. */
const PAGE = 1000;

/** Yields all pages of a list, up to `most` items. */
export async function* pagesOf<Item, Next>(
  ask: (limit: number, after: Next | undefined) => Promise<Found<Item, Next>>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Item[]> {
  let [left, after]: [number, Next | undefined] = [most, undefined];
  while (left > 0) {
    const { items, next } = await ask(Math.min(PAGE, left), after);
    if (items.length > 0) yield items.slice(0, left);
    left -= items.length;
    if (next === null) return;
    after = next;
  }
}
