export async function pagesOf<Item>(
  most: number,
  pageAfter: (after: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await pageAfter(after);
    found.push(...items);
    after = next ?? undefined;
  } while (after !== undefined && found.length < most);
  return found;
}
