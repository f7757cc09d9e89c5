/** A thread that reads known cells, asks an index for rows that it wrote, and follows all logs, until it is ended. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import { runFollower } from '../../../shared/follow/run-follower.ts';
import { Workers } from '../../../shared/follow/workers.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { cellReads } from '../../../shared/store/read-cells.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { openStore, type OpenStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker, type WorkerControl } from '../../support/workers/worker-side.ts';

export interface WatchInput {
  readonly access: StoreAccess;
  readonly seed: string;
  readonly known: readonly [NewCell, ...NewCell[]];
  /** Reads where a shard was a moment ago, without a second read: as a control. @default false */
  readonly asIs?: boolean;
}

export interface Watched {
  reads: number;
  /** Reads with neither the cell as it was written, nor one marked as stale. */
  wrong: number;
  refused: number;
  readMs: number[];
  queries: number;
  /** Rows that the index did not show this long after they were written. */
  unfound: number;
  outOfOrder: number;
  examples: string[];
}

const READERS = 4;
const PAUSE_MS = 2;
const ENTRY_PAUSE_MS = 30;
/** The time for the repair to compare the last entries that a promoted writer lost. */
const ENTRY_MS = 45_000;
const EXAMPLES = 5;
const FOLLOW_PATIENCE_MS = 60_000;

type Control = WorkerControl<'stop', { readonly reads: number }>;

await runAsWorker<WatchInput, 'stop', { readonly reads: number }, Watched>(async (input, control: Control) => {
  await using store = await openStore(input.access);
  await using following = await openStore(input.access);
  const counts = { reads: 0, wrong: 0, refused: 0, queries: 0, unfound: 0, outOfOrder: 0 };
  const state: Watched = { ...counts, readMs: [], examples: [] };
  const last = new Map<number, number>();
  const end = new AbortController();
  control.ready();
  const isOver = (): boolean => control.stopped !== undefined;
  const following_ = follow(following, last, state, end.signal);
  await Promise.all([
    ...Array.from({ length: READERS }, (_, reader) =>
      readKnown(store, input, new Random(input.seed, 'reads', reader), state, isOver),
    ),
    writeAndQuery(store, new Random(input.seed, 'entries', 0), state, isOver),
  ]);
  // The last cells are followed as well.
  await untilFollowed(store, last);
  end.abort();
  await following_;
  return state;
});

function note({ examples }: Watched, text: string): void {
  if (examples.length < EXAMPLES) examples.push(text);
}

async function readKnown(
  { context, datastore: whole }: OpenStore,
  { known, asIs = false }: WatchInput,
  random: Random,
  state: Watched,
  isOver: () => boolean,
): Promise<void> {
  const datastore = asIs ? cellReads(context, whole.name, whole.shards) : whole;
  while (!isOver()) {
    const cell = random.pick(known);
    const since = performance.now();
    try {
      const found = await datastore.get(cell);
      state.readMs.push(performance.now() - since);
      state.reads += 1;
      const isSame = JSON.stringify(found.cell?.body) === JSON.stringify(cell.body);
      if (!isSame && !found.stale) {
        state.wrong += 1;
        note(state, `read ${cell.row_key}: ${JSON.stringify(found)}`);
      }
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
      state.refused += 1;
      note(state, `read ${cell.row_key}: ${error.message} ${String(error.cause)}`);
    }
    await sleep(PAUSE_MS);
  }
}

/** Writes rows of an index, and queries each by its field once it has to be there. */
async function writeAndQuery(
  { datastore }: OpenStore,
  random: Random,
  state: Watched,
  isOver: () => boolean,
): Promise<void> {
  const written: { readonly city: string; readonly row_key: string; readonly at: number }[] = [];
  for (let number = 1; !isOver(); number += 1) {
    const [row_key, city] = [randomRowKey(random), `city ${number}`];
    const put = await datastore.put({ row_key, column_name: 'BASE', ref_key: number, body: { city } });
    if (put.outcome === 'stored') written.push({ city, row_key, at: Date.now() });
    const due = written[0];
    if (due && Date.now() - due.at >= ENTRY_MS) {
      written.shift();
      const found = await datastore
        .query({ index: 'by_city', where: { city: due.city } })
        .catch((error: unknown) => String(error));
      state.queries += 1;
      if (typeof found === 'string' || found.entries.length !== 1 || found.entries[0]?.row_key !== due.row_key) {
        state.unfound += 1;
        note(state, `query ${due.city}: ${JSON.stringify(found)}`);
      }
    }
    await sleep(ENTRY_PAUSE_MS);
  }
}

async function follow(
  { context, stateTable, topologyTable, name }: OpenStore,
  last: Map<number, number>,
  state: Watched,
  signal: AbortSignal,
): Promise<void> {
  const workers = new Workers({ stateTable, workerGroup: 'watch', owner: randomUUID() });
  await runFollower({
    follower: {
      name: 'watch',
      datastore: name,
      start: 'start',
      async handle(_group, cells) {
        const done = new Map<number, number>();
        for (const { shard, added_id } of cells) {
          const before = last.get(shard) ?? 0;
          // A cell that was given before is a repeat; any other must be the next.
          if (added_id > before + 1) {
            state.outOfOrder += 1;
            note(state, `follower: ${shard}/${added_id} after ${before}`);
          }
          last.set(shard, Math.max(before, added_id));
          done.set(shard, added_id);
        }
        return done;
      },
    },
    context,
    stateTable,
    topologyTable,
    workers,
    deadline: Number.MAX_SAFE_INTEGER,
    signal,
    read: 'reader',
  });
  await workers.leave();
}

async function untilFollowed({ datastore }: OpenStore, last: ReadonlyMap<number, number>): Promise<void> {
  const until = Date.now() + FOLLOW_PATIENCE_MS;
  for (;;) {
    const heads = await datastore.heads().catch(() => []);
    const isDone = heads.length > 0 && heads.every((one) => 'head' in one && (last.get(one.shard) ?? 0) >= one.head);
    if (isDone || Date.now() > until) return;
    await sleep(200);
  }
}
