import { failBuffered } from '../sql/statements/change-buffered.ts';
import { toWaitingRow } from '../sql/statements/select-buffered.ts';
import { selectWaiting, type WaitingPlace } from '../sql/statements/select-waiting.ts';
import { selectWaitingShards, toWaitingShards, type WaitingShard } from '../sql/statements/select-waiting-shards.ts';
import type { StoreContext } from '../access/context.ts';
import { appendPace, rateFor, type Backlog } from './append-pace.ts';
import { openArrivals, type Arrival } from './arrivals.ts';
import type { Lane } from './drain-lane.ts';
import { emptyReport, type DrainReport, type DrainSettings } from './drain-settings.ts';
import { nameOf, openTurns } from './turns.ts';

/** How far the drain of one group's buffer table has come: for who goes on with it. */
export interface DrainProgress {
  readonly arrivals: readonly Arrival[];
  /** By shard, as `trips/233`: rows up to this id were looked at. Those that begin anew are left out. */
  readonly places: Readonly<Record<string, number>>;
}

/** The drain of one group's buffer table: a lane for each primary that rows wait for. */
export interface HolderDrain {
  readonly lanes: ReadonlyMap<string, Lane>;
  /** Looks what waits, and for whom. */
  watch(): Promise<void>;
  /** Milliseconds since the first of all rows that wait was seen; null when none waits. */
  oldest(): number | null;
  progress(): DrainProgress;
  /** What was done since it was last asked. */
  report(): DrainReport;
}

/** @param progress of a former drain @default none: it begins at the first rows */
export async function openHolderDrain(
  context: StoreContext,
  holder: string,
  settings: DrainSettings = {},
  progress: DrainProgress = { arrivals: [], places: {} },
): Promise<HolderDrain> {
  const { minimumAgeSeconds = 2, pageRows = 100, appendsPerSecond, maxAttempts = 5 } = settings;
  const client = await context.groups.client(holder);
  const arrivals = openArrivals(progress.arrivals);
  const lanes = new Map<string, Lane>();
  const rates = new Map<string, number>();
  const report = emptyReport();
  const upTo = (): number => arrivals.idAt(minimumAgeSeconds * 1000);
  let oldest: number | null = null;
  const backlogOf = (rows: number, first: number): Backlog => ({
    rows,
    seconds: arrivals.ageOf(first) / 1000,
    isWatched: arrivals.sawComing(first),
  });

  function laneOf(primary: string): Lane {
    let lane = lanes.get(primary);
    if (!lane) {
      const pace = appendPace(() => rates.get(primary) ?? rateFor([]));
      lane = {
        context,
        holder: client,
        primary,
        turns: openTurns((name) => progress.places[name]),
        pace,
        report,
        pageRows,
        maxAttempts,
        upTo,
      };
      lanes.set(primary, lane);
    }
    return lane;
  }

  /** Rows of shards that there are not are at fault themselves. */
  async function failLost(lost: readonly WaitingPlace[]): Promise<void> {
    if (lost.length === 0) return;
    const rows = (await client.select(selectWaiting(lost, upTo(), Math.ceil(pageRows / lost.length)), 'writer')).map(
      toWaitingRow,
    );
    for (const row of rows)
      await client.change(failBuffered(row, `no shard ${row.shard} of datastore ${row.datastore}`, maxAttempts));
    report.seen += rows.length;
    report.failed += rows.length;
  }

  return {
    lanes,
    async watch() {
      const { shards, last, areMany } = toWaitingShards(await client.select(selectWaitingShards(), 'writer'));
      arrivals.note(last);
      const first = Math.min(...shards.map((shard) => shard.first));
      oldest = shards.length === 0 ? null : arrivals.ageOf(first);
      const { placed, lost } = await findPrimaries(context, shards);
      for (const primary of new Set([...placed.keys(), ...lanes.keys()])) {
        const ofPrimary = placed.get(primary) ?? [];
        laneOf(primary).turns.have(ofPrimary);
        const firstOf = Math.min(last, ...ofPrimary.map((shard) => shard.first));
        const counted = rateFor(ofPrimary.map(({ rows, first: ofShard }) => backlogOf(rows, ofShard)));
        // Where not all are counted, whatever came since the first of them may wait.
        rates.set(
          primary,
          appendsPerSecond ??
            (areMany ? Math.max(counted, rateFor([backlogOf(last - firstOf + 1, firstOf)])) : counted),
        );
      }
      await failLost(lost.slice(0, pageRows).map(({ datastore, shard }) => ({ datastore, shard, after: 0 })));
    },
    oldest: () => oldest,
    progress: () => ({
      arrivals: arrivals.saved(),
      places: Object.fromEntries(
        [...lanes.values()].flatMap(({ turns }) =>
          [...turns.shards.values()].filter(({ after }) => after > 0).map((turn) => [nameOf(turn), turn.after]),
        ),
      ),
    }),
    report() {
      const done = { ...report, unreachable: new Set(report.unreachable), refused: new Set(report.refused) };
      Object.assign(report, { seen: 0, drained: 0, appended: 0, conflicts: 0, failed: 0 });
      report.unreachable.clear();
      report.refused.clear();
      return done;
    },
  };
}

/** Shards with rows that wait, by the group that owns them, and those that there are not. */
async function findPrimaries({ topology }: StoreContext, shards: readonly WaitingShard[]) {
  const [owned, lost]: [{ readonly shard: WaitingShard; readonly primary: string }[], WaitingShard[]] = [[], []];
  for (const shard of shards) {
    const known = await topology.datastore(shard.datastore);
    // A datastore may be so new that this instance has not heard of it: its rows wait, and the age of the oldest tells.
    if (!known) continue;
    const place = known.places[shard.shard];
    if (place) owned.push({ shard, primary: place.group });
    else lost.push(shard);
  }
  const placed = new Map(
    [...Map.groupBy(owned, ({ primary }) => primary)].map(([primary, some]) => [
      primary,
      some.map(({ shard }) => shard),
    ]),
  );
  return { placed, lost };
}
