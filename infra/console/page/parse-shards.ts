/** Parses `0-15,233`, or all shards if empty. Returns undefined if it is invalid. */
export function parseShards(text: string, count: number): readonly number[] | undefined {
  if (text.trim() === '' || text.trim() === 'all') return Array.from({ length: count }, (_, shard) => shard);
  const chosen = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/u.exec(part) ?? [];
    if (first === undefined || Number(last) >= count || Number(first) > Number(last)) return undefined;
    for (let shard = Number(first); shard <= Number(last); shard++) chosen.add(shard);
  }
  return [...chosen].sort((one, other) => one - other);
}
