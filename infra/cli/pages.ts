/** The most items of one page of the API. */
const PAGE = 1000;

/** Yields the items of all pages of a list, up to `most` items. */
export async function* pagesOf<Given, Page extends { readonly next: string | number | null }, Item>(
  ask: (given: Given) => Promise<Page>,
  given: Omit<NonNullable<Given>, 'limit'>,
  itemsOf: (page: Page) => readonly Item[],
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Item[]> {
  let left = most;
  let behind: { readonly after?: string | number } = {};
  while (left > 0) {
    const page = await ask({ ...given, ...behind, limit: Math.min(PAGE, left) } as unknown as Given);
    const items = itemsOf(page);
    if (items.length > 0) yield items.slice(0, left);
    left -= items.length;
    if (page.next === null) return;
    behind = { after: page.next };
  }
}
