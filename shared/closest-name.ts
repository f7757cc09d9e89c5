/** The most letters that may be missing, added, replaced or swapped with the next. */
const MOST_CHANGES = 2;

/** Returns the known name with the fewest changes: at most two, and fewer than half of its letters. */
export function closestName(written: string, known: readonly string[]): string | undefined {
  let closest: string | undefined;
  let fewest = MOST_CHANGES + 1;
  for (const name of known) {
    // Skips names whose length alone differs too much: a name may be very long.
    if (Math.abs(name.length - written.length) > MOST_CHANGES) continue;
    const changes = changesBetween(written.toLowerCase(), name.toLowerCase());
    if (changes < fewest && changes * 2 < name.length) [closest, fewest] = [name, changes];
  }
  return closest;
}

/** Counts letters to insert, remove, replace or swap with the next (optimal string alignment). */
function changesBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, position) => position);
  for (let at = 1; at <= one.length; at += 1) {
    const row = [at];
    for (let position = 1; position <= other.length; position += 1) {
      const isSame = one[at - 1] === other[position - 1];
      let least = Math.min(
        (last[position] ?? 0) + 1,
        (row[position - 1] ?? 0) + 1,
        (last[position - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (at > 1 && position > 1 && one[at - 1] === other[position - 2] && one[at - 2] === other[position - 1])
        least = Math.min(least, (beforeLast[position - 2] ?? 0) + 1);
      row.push(least);
    }
    [beforeLast, last] = [last, row];
  }
  return last[other.length] ?? 0;
}
