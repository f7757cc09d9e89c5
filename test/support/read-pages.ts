/** Reads a list to its end, page by page. */
export async function readPages<Next, Page extends { readonly next: Next | null }>(
  read: (after: Next | undefined) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (let after: Next | undefined; pages.length < 100;) {
    const page = await read(after);
    pages.push(page);
    if (page.next === null) return pages;
    after = page.next;
  }
  throw new Error('a list without end');
}
