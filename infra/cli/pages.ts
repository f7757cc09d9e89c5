/** The most that the API gives at once. */
const PAGE = 1000;

/** Yields the items of all pages of a list, up to `most` items. */
export async function* pagesOf<Item, Page extends { readonly next: string | number | null }>(
  ask: (limit: number, after: NonNullable<Page['next']> | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Item[]> {
  let left = most;
  let after: NonNullable<Page['next']> | undefined;
  while (left > 0) {
    const page = await ask(Math.min(PAGE, left), after);
    const items = itemsOf(page);
    if (items.length > 0) yield items.slice(0, left);
    left -= items.length;
    if (page.next === null) return;
    after = page.next as typeof after;
  }
}
