/**
 * Checks a history of counters in the manner of Elle. Each increment names the version that it read and the one that it
 * wrote. So the order of all is known, and only real time is left to compare with it.
 */
export interface Increment {
  readonly row: string;
  readonly id: string;
  /** Milliseconds of one clock. */
  readonly begun: number;
  readonly ended: number;
  /** The version read; -1 for none. */
  readonly from: number;
  readonly to: number;
  /** `unclear`: it may be stored, at any later time. */
  readonly outcome: 'stored' | 'refused' | 'unclear';
}

export interface CounterRead {
  readonly row: string;
  readonly begun: number;
  readonly ended: number;
  readonly version: number;
}

/** A version in the end. */
export interface CounterVersion {
  readonly row: string;
  readonly id: string;
  readonly from: number;
  readonly version: number;
}

/** Returns the observations that no sequential order of the operations explains. */
export function anomaliesOf(
  increments: readonly Increment[],
  reads: readonly CounterRead[],
  versions: readonly CounterVersion[],
): readonly string[] {
  const byId = new Map(increments.map((one) => [one.id, one]));
  const there = new Set(versions.map(({ id }) => id));
  const found: string[] = [];
  for (const { id, outcome } of increments)
    if (outcome === 'stored' && !there.has(id)) found.push(`${id} was acknowledged, and is lost`);
  const readsOf = Map.groupBy(reads, ({ row }) => row);
  for (const [row, some] of Map.groupBy(versions, (one) => one.row)) {
    const inOrder = some.toSorted((one, other) => one.version - other.version);
    const writes = inOrder.map(({ id }) => byId.get(id));
    for (const [at, { id, from, version }] of inOrder.entries()) {
      const before = inOrder[at - 1]?.version ?? -1;
      if (from !== before) found.push(`${row}: ${version} was written on ${from}, behind ${before}`);
      if (writes[at]?.outcome === 'refused') found.push(`${row}: ${id} was refused, and is stored`);
    }
    found.push(...againstTime(row, writes), ...readsAgainstTime(row, inOrder, writes, readsOf.get(row) ?? []));
  }
  return found;
}

/** A version may not be written before an earlier one was begun. */
function againstTime(row: string, writes: readonly (Increment | undefined)[]): readonly string[] {
  const found: string[] = [];
  let latestBegun = 0;
  for (const write of writes) {
    if (write?.outcome === 'stored' && write.ended < latestBegun)
      found.push(`${row}: ${write.to} was done before an earlier version was begun`);
    latestBegun = Math.max(latestBegun, write?.begun ?? 0);
  }
  return found;
}

/** A read shows every version that was acknowledged, or read, before it; none that was begun after it. */
function readsAgainstTime(
  row: string,
  versions: readonly CounterVersion[],
  writes: readonly (Increment | undefined)[],
  reads: readonly CounterRead[],
): readonly string[] {
  const begunAt = new Map(versions.map(({ version }, at) => [version, writes[at]?.begun ?? 0]));
  const known = [
    ...writes.flatMap((write) => (write?.outcome === 'stored' ? { at: write.ended, version: write.to } : [])),
    ...reads.map(({ ended, version }) => ({ at: ended, version })),
  ].sort((one, other) => one.at - other.at);
  const found: string[] = [];
  let [next, least] = [0, -1];
  for (const { begun, ended, version } of reads.toSorted((one, other) => one.begun - other.begun)) {
    for (let one = known[next]; one && one.at < begun; one = known[(next += 1)]) least = Math.max(least, one.version);
    if (version < least) found.push(`${row}: ${version} was read after ${least} was known`);
    if (version >= 0 && (begunAt.get(version) ?? Number.POSITIVE_INFINITY) > ended)
      found.push(`${row}: ${version} was read before it was begun`);
  }
  return found;
}
