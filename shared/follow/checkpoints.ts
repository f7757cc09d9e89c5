export interface Checkpoint {
  readonly added_id: number;
  readonly fingerprint: string;
}

const SPREAD = 9;
/** Two for each ninefold distance: reaches back over forty million cells. */
const MOST = 17;

/**
 * Adds a checkpoint and thins out the others: at most 17 in order, of which the oldest stays. The newest checkpoint before
 * lost cells is at most nine times as far back as they are (or one page further).
 */
export function withCheckpoint<C extends Checkpoint>(checkpoints: readonly C[], newest: C): C[] {
  const kept = [...checkpoints.filter(({ added_id }) => added_id < newest.added_id), newest];
  const back = (position: number): number => newest.added_id - (kept[position]?.added_id ?? 0);
  for (let position = kept.length - 2; position > 0; position -= 1) {
    if (back(position - 1) <= SPREAD * back(position + 1)) kept.splice(position, 1);
  }
  return kept.length > MOST ? kept.toSpliced(1, kept.length - MOST) : kept;
}
