/** A place that a follower was at, and the cell that was there. */
export interface Checkpoint {
  readonly added_id: number;
  readonly fingerprint: string;
}

/** How many times further back than needed a checkpoint may be. */
const SPREAD = 9;
/** Two for each ninefold distance: reaches back over forty million cells. */
const MOST = 17;

/**
 * A shard's checkpoints with one more, thinned out: one goes when the next older is at most nine times as far back as
 * the next newer. That holds ever after, as both move back alike; so when cells were lost, the newest checkpoint before
 * them is at most nine times as far back as they are (or one page further).
 *
 * @param checkpoints in order of added id
 * @returns at most 17, in order; the oldest stays
 */
export function withCheckpoint<C extends Checkpoint>(checkpoints: readonly C[], newest: C): C[] {
  const kept = [...checkpoints.filter(({ added_id }) => added_id < newest.added_id), newest];
  const back = (position: number): number => newest.added_id - (kept[position]?.added_id ?? 0);
  for (let position = kept.length - 2; position > 0; position -= 1) {
    if (back(position - 1) <= SPREAD * back(position + 1)) kept.splice(position, 1);
  }
  return kept.length > MOST ? kept.toSpliced(1, kept.length - MOST) : kept;
}
