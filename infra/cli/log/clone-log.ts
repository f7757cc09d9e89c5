import { EMPTY_DIGEST, nextDigest } from '../../../shared/body/log-digest.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import { LIMITS, type Cell, type PutResult } from '../../../shared/cell.ts';
import { inBatches } from '../../../shared/client/batch-writer.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { SEALED_KEY } from '../../../shared/definitions/field-value.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { pauseFor } from '../../../shared/pause-for.ts';
import { digestLog, type LogDigest } from './digest-log.ts';

export interface Cloning {
  readonly source: Pick<Datastore, 'log' | 'digest'>;
  readonly target: Pick<Datastore, 'batchRestore' | 'digest'>;
  readonly signal: AbortSignal;
  /** Told of cells that are there now, and were not. */
  readonly tell?: (cells: number) => void;
}

export interface ClonedShard {
  readonly shard: number;
  readonly to: number;
  readonly at: number;
}

/** The log of the target is another one, or other cells came into it meanwhile; or that of the source has erasures, or sealed fields. */
export class OtherLog extends Error {}

/** Bodies that go with one request, as JSON; the API takes four times as much. */
const BATCH_BYTES = 1024 * 1024;
const PAUSE_MS = 500;
const TRIES = 20;

/**
 * Copies a shard's log to another store, with the same added ids and times, until both digests are equal. Compares what
 * is there first, so that it can be repeated. No other writer may append to the shard meanwhile. Returns the digest at
 * `to`, or as far as it came before the signal. Throws OtherLog.
 */
export async function cloneLog(cloning: Cloning, { shard, to, at: begun }: ClonedShard): Promise<LogDigest> {
  const { source, target, signal, tell = () => undefined } = cloning;
  const [ofSource, ofTarget] = await Promise.all([
    digestLog(source, { shard, at: begun }),
    digestLog(target, { shard, at: begun }),
  ]);
  if (begun > to || ofSource.at !== ofTarget.at || (begun > 0 && ofSource.digest !== ofTarget.digest))
    throw new OtherLog(`shard ${shard} holds other cells already: wanted an empty one, or what was cloned before`);
  let digest = begun > 0 ? ofSource.digest : EMPTY_DIGEST;
  let at = begun;
  while (at < to && !signal.aborted) {
    const cells = await nextCells(source, shard, at, to);
    for (const batch of inBatches(cells, ({ body }) => JSON.stringify(body).length, BATCH_BYTES)) {
      if (signal.aborted) break;
      await restore(target, batch);
      for (const cell of batch) digest = nextDigest(digest, cell);
      at = batch.at(-1)?.added_id ?? at;
      tell(batch.length);
    }
  }
  if (at < to) return { at, digest };
  // As it lies there, and not as it was sent.
  const there = await digestLog(target, { shard, at });
  if (there.digest !== digest)
    throw new OtherLog(`shard ${shard} is not what was cloned: its digest at ${at} is another`);
  return { at, digest };
}

async function nextCells(
  source: Cloning['source'],
  shard: number,
  after: number,
  to: number,
): Promise<readonly Cell[]> {
  const [log] = await source.log([{ shard, after }], { limit: LIMITS.logCells, sealed: true });
  if (!log || log.error) throw log?.error ?? new SchemalessError('unavailable', `shard ${shard} was not answered`);
  const damaged = log.cells.find(({ error }) => error !== undefined);
  if (damaged?.error) throw damaged.error;
  const cells = log.cells.filter(({ added_id }) => added_id <= to);
  refuseErased(cells);
  refuseSealed(cells);
  if (cells.length === 0) throw new SchemalessError('unavailable', `shard ${shard} shows no cell behind ${after}`);
  return cells;
}

/** Nobody can write what was erased, nor the erasure at its place: what comes behind would have other added ids. */
function refuseErased(cells: readonly Cell[]): void {
  const gone = cells.find(({ erased, erasure }) => erased === true || erasure !== undefined);
  if (gone === undefined) return;
  const what = gone.erasure ? 'is an erasure' : 'was erased';
  throw new OtherLog(
    `shard ${gone.shard} cannot be cloned: what has the added id ${gone.added_id} ${what}. Export it and import that: the cells come without their added ids, and without what was erased`,
  );
}

/** Another deployment has other keys: what is sealed there is other bytes, and the logs cannot be compared. */
function refuseSealed(cells: readonly Cell[]): void {
  const sealed = cells.find(({ body }) => stringifyJson(body).includes(`"${SEALED_KEY}"`));
  if (sealed === undefined) return;
  throw new OtherLog(
    `shard ${sealed.shard} cannot be cloned: what has the added id ${sealed.added_id} has sealed fields, and the other deployment other keys. Export it with --opened and import that`,
  );
}

/** Until all of them are there: a group that is away takes nothing that has a time of its own. */
async function restore(target: Cloning['target'], batch: readonly Cell[]): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const results = await target.batchRestore(batch);
    const other = results.findIndex(
      (result, position) =>
        result.outcome === 'conflict' ||
        result.outcome === 'erased' ||
        result.outcome === 'subject_forgotten' ||
        ('added_id' in result && result.added_id !== batch[position]?.added_id),
    );
    if (other >= 0) throw notTaken(results[other], batch[other]);
    const refused = results.find(({ outcome }) => outcome === 'unavailable' || outcome === 'buffered');
    if (!refused) return;
    if (tried === TRIES) throw new SchemalessError('unavailable', `shard ${refused.shard} took no cells`);
    await pauseFor(PAUSE_MS, new AbortController().signal);
  }
}

function notTaken(result: PutResult | undefined, cell: Cell | undefined): OtherLog {
  const taken = `shard ${cell?.shard} cannot take the cell of added id ${cell?.added_id}`;
  if (result?.outcome === 'erased') return new OtherLog(`${taken}: its address was erased there`);
  if (result?.outcome === 'subject_forgotten') return new OtherLog(`${taken}: its subject was forgotten there`);
  return new OtherLog(
    `shard ${cell?.shard} is written to by somebody else: the cell of added id ${cell?.added_id} has another place`,
  );
}
