/** A cell of a triggered column, in milliseconds since 1970. */
export interface Triggered {
  readonly answeredAt: number;
  /** Its function was started. Undefined when that was not seen. */
  readonly startedAt: number | undefined;
}

/** How long after its put was answered the function of each was started, in milliseconds; for ever where it was not. */
export function lagsOf(cells: readonly Triggered[]): readonly number[] {
  // The function may be started before the put is answered.
  return cells.map(({ answeredAt, startedAt = Number.POSITIVE_INFINITY }) => Math.max(0, startedAt - answeredAt));
}

/** How many were answered and not started at each full second after a time, up to another. */
export function backlogBySecond(
  cells: readonly Triggered[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] {
  return Array.from({ length: Math.floor((to - from) / 1000) }, (_, second) => {
    const at = from + (second + 1) * 1000;
    return cells.filter(({ answeredAt, startedAt }) => answeredAt <= at && (startedAt ?? Number.POSITIVE_INFINITY) > at)
      .length;
  });
}

/** What a backlog was in the second and in the last third of its time. */
interface BacklogCourse {
  readonly middle: number;
  readonly late: number;
  /** It did not grow by more than half a second's worth of cells, which is one in forty of a minute's. */
  readonly isFlat: boolean;
}

/** @param perSecond cells that came */
export function courseOf(backlog: readonly number[], perSecond: number): BacklogCourse {
  const third = Math.floor(backlog.length / 3);
  const [middle, late] = [mean(backlog.slice(third, 2 * third)), mean(backlog.slice(-third))];
  return { middle, late, isFlat: late <= middle + perSecond / 2 };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
