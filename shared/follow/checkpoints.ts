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
export function withCheckpoint(checkpoints: readonly Checkpoint[], newest: Checkpoint): Checkpoint[] {
  const kept = [...checkpoints.filter(({ added_id }) => added_id < newest.added_id), newest];
  const back = (place: number): number => newest.added_id - (kept[place]?.added_id ?? 0);
  for (let place = kept.length - 2; place > 0; place -= 1) {
    if (back(place - 1) <= SPREAD * back(place + 1)) kept.splice(place, 1);
  }
  return kept.length > MOST ? kept.toSpliced(1, kept.length - MOST) : kept;
}
