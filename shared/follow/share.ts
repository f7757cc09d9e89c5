export interface Worker {
  readonly owner: string;
  /** Workers of one slot succeed each other: the one with the highest number goes on. */
  readonly slot: string;
  /** Goes up with each worker that joins. */
  readonly number: number;
  /** Holds all of its share of everything that it follows. */
  readonly ready: boolean;
}

export interface Share {
  readonly mine: readonly number[];
  /** Other living workers, whose partitions must not be taken. */
  readonly others: readonly string[];
  readonly successor?: Worker;
}

/**
 * Returns the share of a worker. Each works it out for itself: views that differ for a moment only lead to a partition
 * being taken twice, which its fence settles. The newest worker of each slot counts, in the order of the slots, so that a
 * successor has the share of its predecessor.
 */
export function shareOf(partitions: number, living: readonly Worker[], owner: string): Share {
  const newest = new Map<string, Worker>();
  for (const worker of living) {
    if (worker.number > (newest.get(worker.slot)?.number ?? 0)) newest.set(worker.slot, worker);
  }
  const me = living.find((worker) => worker.owner === owner);
  const others = living.filter((worker) => worker !== me).map((worker) => worker.owner);
  const heir = me && newest.get(me.slot);
  if (!me || !heir) return { mine: [], others };
  if (heir !== me) return { mine: [], others, successor: heir };
  const slots = [...newest.keys()].sort();
  const rank = slots.indexOf(me.slot);
  return {
    mine: Array.from({ length: partitions }, (_, partition) => partition).filter(
      (partition) => partition % slots.length === rank,
    ),
    others,
  };
}
