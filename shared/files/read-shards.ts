import type { Cell, Role } from '../cell.ts';
import type { SchemalessClient } from '../client/client.ts';
import { pauseMs } from '../client/pause.ts';
import { pauseFor } from '../pause-for.ts';
import { FilesError } from './files-error.ts';
import type { Range } from './manifest.ts';

interface ShardSink {
  /** Takes the next cells of a shard. Returns false if no more are wanted of it. */
  cells(range: Range, cells: readonly Cell[]): Promise<boolean>;
  /** All cells of the range that are wanted have come, at least one. */
  done(range: Range): Promise<void>;
  /** Nothing came of a shard. */
  silent(range: Range): void;
}

interface ReadShardsOptions {
  readonly client: Pick<SchemalessClient, 'log'>;
  readonly read: Role;
  readonly sealed: boolean;
  /** Shards of a request at most: each is a file that is open. */
  readonly atOnce: number;
  readonly patienceMs: number;
  /** Ranges may end early, by the signal or when nothing more comes; else that throws `log_too_short`. */
  readonly mayEndEarly: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Requests under way at once: while one is answered, what another brought is written. */
const REQUESTS = 2;
/** An answer has room for so many cells as a rule: more shards, where they have few. */
const CELLS_WANTED = 4000;
const CELLS_A_SHARD = 1000;

/**
 * Reads ranges of logs, many shards a request, until all cells of each have come. Throws `log_too_short`, `cut_log`.
 */
export async function readShards(ranges: readonly Range[], sink: ShardSink, options: ReadShardsOptions): Promise<void> {
  const waiting = [...ranges];
  const readers = Array.from({ length: REQUESTS }, async () => {
    try {
      await readSome(waiting, sink, options);
    } catch (error) {
      waiting.length = 0;
      throw error;
    }
  });
  const ends = await Promise.allSettled(readers);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

interface Reading {
  readonly range: Range;
  next: number;
  isFull: boolean;
}

async function readSome(waiting: Range[], sink: ShardSink, options: ReadShardsOptions): Promise<void> {
  let open: Reading[] = [];
  let idle = 0;
  let cameAt = performance.now();
  while (!options.signal?.aborted) {
    fill(open, waiting, options.atOnce);
    if (open.length === 0) return;
    const logs = await ask(open, options);
    if (!logs) break;
    const came = await take(open, logs, sink);
    for (const { range } of open.filter(isDone)) await sink.done(range);
    open = open.filter((reading) => !isDone(reading));
    idle = came > 0 ? 0 : idle + 1;
    if (came > 0) cameAt = performance.now();
    else if (open.length > 0) {
      if (performance.now() - cameAt > options.patienceMs) {
        if (!options.mayEndEarly) throw tooShort(open, options.patienceMs);
        await endThere(open, sink, true);
        open = [];
        cameAt = performance.now();
      } else await pauseFor(pauseMs(idle, null), options.signal);
    }
  }
  if (options.mayEndEarly) await endThere(open, sink, false);
}

/** Those of which something came are done with that. */
async function endThere(open: readonly Reading[], sink: ShardSink, areSilent: boolean): Promise<void> {
  for (const { range, next } of open) {
    if (next > range.after) await sink.done(range);
    else if (areSilent) sink.silent(range);
  }
}

function fill(open: Reading[], waiting: Range[], atOnce: number): void {
  const left = ({ range, next }: Reading): number => Math.min(CELLS_A_SHARD, range.to - next);
  let cells = open.reduce((sum, reading) => sum + left(reading), 0);
  while (open.length < atOnce && (open.length === 0 || cells < CELLS_WANTED)) {
    const range = waiting.shift();
    if (!range) return;
    // The cell at the place itself comes first, to be checked.
    const reading = { range, next: range.after_created_at === null ? range.after : range.after - 1, isFull: false };
    open.push(reading);
    cells += left(reading);
  }
}

type Logs = Awaited<ReturnType<SchemalessClient['log']>>;

/** Undefined where the end came instead, and what has come until then is enough. */
async function ask(open: readonly Reading[], options: ReadShardsOptions): Promise<Logs | undefined> {
  const locations = open.map(({ range: { shard }, next }) => ({ shard, after: next }));
  try {
    return await options.client.log(locations, { limit: CELLS_A_SHARD, read: options.read, sealed: options.sealed });
  } catch (error) {
    if (options.mayEndEarly && options.signal?.aborted) return undefined;
    throw error;
  }
}

async function take(open: readonly Reading[], logs: Logs, sink: ShardSink): Promise<number> {
  let came = 0;
  for (const [position, log] of logs.entries()) {
    const reading = open[position];
    if (!reading) continue;
    if (log.error !== undefined) {
      if (log.error.retry === 'never') throw log.error;
      continue;
    }
    const { range } = reading;
    const cells = log.cells.filter(({ added_id }) => added_id <= range.to);
    if (cells.length === 0) continue;
    came += cells.length;
    reading.next = cells.at(-1)?.added_id ?? reading.next;
    reading.isFull = !(await sink.cells(range, checkLocation(range, cells)));
  }
  return came;
}

/** Drops the cell before the range, and checks that it is the one of the last export. */
function checkLocation({ shard, after, after_created_at }: Range, cells: readonly Cell[]): readonly Cell[] {
  const [first] = cells;
  if (first?.added_id !== after) return cells;
  if (first.created_at === after_created_at) return cells.slice(1);
  throw new FilesError(
    'cut_log',
    `shard ${shard}: wanted the cell ${after} of ${after_created_at}, as in the last export, got one of ${first.created_at}: the log was cut since, for example when a writer was lost. Export everything again, to another place`,
  );
}

function isDone({ range, next, isFull }: Reading): boolean {
  return next >= range.to || isFull;
}

function tooShort(open: readonly Reading[], patienceMs: number): FilesError {
  const [{ range, next } = { range: { shard: 0, to: 0 }, next: 0 }] = open;
  return new FilesError(
    'log_too_short',
    `shard ${range.shard}: wanted its cells up to ${range.to}, got them up to ${next} and nothing more for ${Math.round(patienceMs / 1000)} s. The same command goes on where this one ended`,
  );
}
