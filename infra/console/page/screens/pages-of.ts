/** Yields the pages of a list, each asked for behind the one before. */
export async function* pagesOf<Page extends { readonly next: string | number | null }>(
  pageAfter: (after: NonNullable<Page['next']> | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  let after: NonNullable<Page['next']> | undefined;
  do {
    const page = await pageAfter(after);
    yield page;
    after = (page.next ?? undefined) as typeof after;
  } while (after !== undefined);
}

/** Collects the items of pages, up to about `most`. */
export async function collected<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
  most = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const page of pages) {
    found.push(...itemsOf(page));
    if (found.length >= most) break;
  }
  return found;
}
