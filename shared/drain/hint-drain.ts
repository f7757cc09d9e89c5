import type { SqlClient } from '../sql/client.ts';
import { failBuffered } from '../sql/statements/change-buffered.ts';
import { toWaitingRow } from '../sql/statements/select-buffered.ts';
import { deleteDrained, selectLastDrained, toLastDrained } from '../sql/statements/drained-copies.ts';
import {
  selectWaiting,
  type WaitingFrom,
  selectWaitingShards,
  toWaitingShards,
  type WaitingShard,
} from '../sql/statements/select-waiting.ts';
import type { StoreContext } from '../access/context.ts';
import { appendPace, rateFor, type Backlog } from './append-pace.ts';
import { openArrivals, type Arrival, type Arrivals, openStopwatch } from './arrivals.ts';
import { type Lane, emptyReport, type DrainReport, type DrainSettings } from './drain-lane.ts';
import { selectShardCounts, toShardCounts } from '../sql/statements/select-shard-counts.ts';
import { askPrimary, fencedShards } from './fenced-shards.ts';
import { nameOf, openTurns } from './turns.ts';

export interface DrainProgress {
  readonly arrivals: readonly Arrival[];
  /** By shard, as `trips/233`: the last id polled. Shards at their beginning are left out. */
  readonly places: Readonly<Record<string, number>>;
  /** When kept hints were drained. @default just now */
  readonly drained?: readonly Arrival[];
}

export async function openHintDrain(
  context: StoreContext,
  hintHolder: string,
  settings: DrainSettings = {},
  progress: DrainProgress = { arrivals: [], places: {} },
): Promise<HintDrain> {
  return new HintDrain(
    context,
    { name: hintHolder, client: await context.groups.client(hintHolder) },
    settings,
    progress,
  );
}

type FullSettings = DrainSettings & Required<Omit<DrainSettings, 'appendsPerSecond'>>;

/** Rows deleted with one statement, each with a body of up to a MiB. */
const DELETED_ROWS = 200;

/** Drains one group's buffer table: one lane for each primary. */
export class HintDrain {
  readonly lanes = new Map<string, Lane>();
  readonly #context: StoreContext;
  readonly #name: string;
  readonly #hintHolder: SqlClient;
  readonly #settings: FullSettings;
  readonly #places: DrainProgress['places'];
  readonly #arrivals: Arrivals;
  readonly #kept = openStopwatch();
  readonly #drained: Arrivals;
  readonly #rates = new Map<string, number>();
  readonly #report = emptyReport();
  #oldest: number | null = null;

  constructor(
    context: StoreContext,
    hintHolder: { readonly name: string; readonly client: SqlClient },
    settings: DrainSettings,
    progress: DrainProgress,
  ) {
    const { minimumAgeSeconds = 2, pageRows = 100, keepCopiesSeconds = 0 } = settings;
    this.#context = context;
    this.#name = hintHolder.name;
    this.#hintHolder = hintHolder.client;
    this.#settings = { ...settings, minimumAgeSeconds, pageRows, keepCopiesSeconds };
    this.#drained = openArrivals(progress.drained, this.#kept.now);
    this.#places = progress.places;
    this.#arrivals = openArrivals(progress.arrivals);
  }

  async watch(): Promise<void> {
    const { shards, last, areMany } = toWaitingShards(await this.#hintHolder.select(selectWaitingShards(), 'writer'));
    this.#arrivals.note(last);
    const first = Math.min(...shards.map((shard) => shard.first));
    this.#oldest = shards.length === 0 ? null : this.#arrivals.ageOf(first);
    const { byPrimary, lost } = await findPrimaries(this.#context, shards);
    for (const primary of new Set([...byPrimary.keys(), ...this.lanes.keys()])) {
      const ofPrimary = byPrimary.get(primary) ?? [];
      this.#laneOf(primary).turns.have(ofPrimary);
      this.#rates.set(primary, this.#settings.appendsPerSecond ?? this.#rateOf(ofPrimary, last, areMany));
    }
    await this.#failLost(
      lost.slice(0, this.#settings.pageRows).map(({ datastore, shard }) => ({ datastore, shard, after: 0 })),
    );
  }

  /** Milliseconds since the oldest waiting row was seen; null if none waits. */
  oldest(): number | null {
    return this.#oldest;
  }

  /** Deletes hints kept long enough. Time in which a group was unreachable or lacked cells does not count. */
  async forgetDrained(signal?: AbortSignal): Promise<void> {
    const last = toLastDrained(await this.#hintHolder.select(selectLastDrained(), 'writer'));
    if (last > 0) this.#kept.pass(await haveTheirCells(this.#context, this.#name));
    this.#drained.note(last);
    const upTo = this.#drained.idAt(this.#settings.keepCopiesSeconds * 1000);
    if (last === 0 || upTo === 0) return;
    for (let deleted = DELETED_ROWS; deleted === DELETED_ROWS;) {
      if (signal?.aborted) return;
      deleted = (await this.#hintHolder.change(deleteDrained(upTo, DELETED_ROWS))).affectedRows;
    }
  }

  progress(): DrainProgress {
    return {
      arrivals: this.#arrivals.saved(),
      drained: this.#drained.saved(),
      places: Object.fromEntries(
        [...this.lanes.values()].flatMap(({ turns }) =>
          [...turns.shards.values()].filter(({ after }) => after > 0).map((turn) => [nameOf(turn), turn.after]),
        ),
      ),
    };
  }

  /** Returns what was done since the last call. */
  report(): DrainReport {
    const report = this.#report;
    const done = { ...report, unreachable: new Set(report.unreachable), refused: new Set(report.refused) };
    Object.assign(report, { seen: 0, drained: 0, appended: 0, conflicts: 0, failed: 0 });
    report.unreachable.clear();
    report.refused.clear();
    return done;
  }

  #laneOf(primary: string): Lane {
    let lane = this.lanes.get(primary);
    if (!lane) {
      lane = {
        context: this.#context,
        hintHolder: this.#hintHolder,
        keepsCopies: this.#settings.keepCopiesSeconds > 0,
        primary,
        turns: openTurns((name) => this.#places[name]),
        pace: appendPace(() => this.#rates.get(primary) ?? rateFor([])),
        report: this.#report,
        pageRows: this.#settings.pageRows,
        upTo: () => this.#upTo(),
      };
      this.lanes.set(primary, lane);
    }
    return lane;
  }

  #upTo(): number {
    return this.#arrivals.idAt(this.#settings.minimumAgeSeconds * 1000);
  }

  /** Returns a primary's appends a second; `last` is the highest id, `areMany`: not all rows are counted. */
  #rateOf(shards: readonly WaitingShard[], last: number, areMany: boolean): number {
    const firstOf = Math.min(last, ...shards.map((shard) => shard.first));
    const counted = rateFor(shards.map(({ rows, first }) => this.#backlogOf(rows, first)));
    // All rows since the first one may be waiting.
    return areMany ? Math.max(counted, rateFor([this.#backlogOf(last - firstOf + 1, firstOf)])) : counted;
  }

  #backlogOf(rows: number, first: number): Backlog {
    return { rows, seconds: this.#arrivals.ageOf(first) / 1000, isWatched: this.#arrivals.sawComing(first) };
  }

  /** Counts rows of unknown shards as faulty. */
  async #failLost(lost: readonly WaitingFrom[]): Promise<void> {
    if (lost.length === 0) return;
    const statement = selectWaiting(lost, this.#upTo(), Math.ceil(this.#settings.pageRows / lost.length));
    const rows = (await this.#hintHolder.select(statement, 'writer')).map(toWaitingRow);
    for (const row of rows)
      await this.#hintHolder.change(failBuffered(row, `no shard ${row.shard} of datastore ${row.datastore}`));
    this.#report.seen += rows.length;
    this.#report.failed += rows.length;
  }
}

/** Whether every other group answers, has all its shards, and takes appends. */
async function haveTheirCells(context: StoreContext, hintHolder: string): Promise<boolean> {
  const others = (await context.groups.names()).filter((group) => group !== hintHolder);
  const whole = await Promise.all(
    others.map((group) =>
      askPrimary(
        context,
        group,
        async () => (await fencedShards(context, group)).length === 0 && (await hasItsShards(context, group)),
      ),
    ),
  );
  return whole.every((is) => is === true);
}

/** A group restored to before a datastore was made lacks its shards until the next migration. */
async function hasItsShards({ groups, topology }: StoreContext, group: string): Promise<boolean> {
  const rows = await (await groups.client(group)).select(selectShardCounts(), 'writer');
  const counts = toShardCounts(rows);
  for (const name of await topology.datastores()) {
    const { homes = [], isBeingMade } = (await topology.datastore(name)) ?? {};
    if (isBeingMade) continue;
    if (homes.filter((home) => home.group === group).length > (counts.get(name) ?? 0)) return false;
  }
  return true;
}

/** Sorts waiting shards by their group. Rows of an unknown datastore wait: it may be too new to be known. */
async function findPrimaries({ topology }: StoreContext, shards: readonly WaitingShard[]) {
  const byPrimary = new Map<string, WaitingShard[]>();
  const lost: WaitingShard[] = [];
  for (const shard of shards) {
    const known = await topology.datastore(shard.datastore);
    const primary = known?.homes[shard.shard]?.group;
    const alike = primary === undefined ? undefined : byPrimary.get(primary);
    if (alike) alike.push(shard);
    else if (primary !== undefined) byPrimary.set(primary, [shard]);
    else if (known) lost.push(shard);
  }
  return { byPrimary, lost };
}
