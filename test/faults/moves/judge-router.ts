/** The column of which somebody else writes versions. */
export const VERSIONS = 'VERSION';

/** What was asked of a shard, and answered. Times are milliseconds since 1970. */
export interface Answered {
  readonly shard: number;
  readonly begun: number;
  readonly ended: number;
}

export interface AnsweredWrite extends Answered {
  readonly outcome: string;
}

/** A look at the latest version of a row, whose versions are written elsewhere. */
export interface AnsweredRead extends Answered {
  readonly row_key: string;
  readonly answer?: { readonly version: number; readonly stale: boolean };
}

/** A version of a row that was acknowledged to somebody else. */
export interface AckedVersion {
  readonly row_key: string;
  readonly version: number;
  readonly at: number;
}

/** From when each shard that moved was elsewhere, until when an instance heard nothing of it. */
interface TimeHeld {
  readonly from: ReadonlyMap<number, number>;
  readonly to: number;
}

export function isOld({ from, to }: TimeHeld): (one: Answered) => boolean {
  return ({ shard, begun, ended }) => begun > (from.get(shard) ?? Infinity) && ended < to;
}

export function judgeOld(
  time: TimeHeld,
  answered: { readonly writes: readonly AnsweredWrite[]; readonly reads: readonly AnsweredRead[] },
  acked: readonly AckedVersion[],
) {
  const [writes, reads] = [answered.writes.filter(isOld(time)), answered.reads.filter(isOld(time))];
  const unmarked = reads.filter(({ answer }) => answer?.stale === false);
  return {
    writes: writes.length,
    taken: writes.filter(({ outcome }) => outcome === 'stored' || outcome === 'stored_before').length,
    reads: reads.length,
    unmarked: unmarked.length,
    older: countOlder(unmarked, acked),
    refused: reads.filter(({ answer }) => answer === undefined).length,
  };
}

export function countOlder(reads: readonly AnsweredRead[], acked: readonly AckedVersion[]): number {
  const byRow = Map.groupBy(acked, ({ row_key }) => row_key);
  return reads.filter(({ row_key, begun, answer }) => {
    const version = answer?.version ?? Infinity;
    return (byRow.get(row_key) ?? []).some((one) => one.at < begun && one.version > version);
  }).length;
}
