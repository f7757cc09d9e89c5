import type { Command } from 'commander';
import { stringifyJson } from '../../../shared/body/json.ts';
import { EMPTY_DIGEST, nextDigest } from '../../../shared/body/log-digest.ts';
import { LIMITS, type Cell, type PutResult } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { beginOfOpen, toTransaction, transactionsAndBatches } from '../../../shared/client/transaction-runs.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { SEALED_KEY } from '../../../shared/definitions/field-value.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { pauseFor } from '../../../shared/pause-for.ts';
import { slicesOf } from '../../../shared/slices-of.ts';
import { command } from '../cli.ts';
import { badUsage, CommandError, endingOf, type Ending } from '../errors.ts';
import { showProgress } from '../files/progress.ts';
import { shardNumbers } from '../flags.ts';
import { digestLog, type LogDigest } from '../log/digest-log.ts';
import type { Column } from '../output/output.ts';
import { openSession, type Connecting, type Session } from '../session.ts';

interface CloneFlags {
  /** A profile, or a URL. */
  readonly from: string;
  readonly fromDatastore?: string;
}

interface Cloned {
  readonly shard: number;
  readonly at?: number;
  readonly digest?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The shards at the same time, each in the order of its log, a batch at a time. */
const AT_ONCE = 8;

const COLUMNS: readonly Column<Cloned>[] = [
  { header: 'SHARD', value: ({ shard }) => shard },
  { header: 'AT', value: ({ at }) => at },
  { header: 'DIGEST', value: ({ digest, error }) => (error ? `(${error.code}: ${error.message})` : digest) },
];

export function clone(): Command {
  return command('clone')
    .description('copy a datastore of another API to this one, with its added ids and times, and compare both')
    .argument('[shard...]', 'their numbers (default: all shards)', shardNumbers)
    .requiredOption('--from <api>', 'a profile, or the URL of an API')
    .option('--from-datastore <name>', 'its name there (default: from the profile, or the only one)')
    .examples(
      ['schemaless clone --from prod', 'the whole datastore, to the default API'],
      ['schemaless clone --from prod --url http://127.0.0.1:3000 7 233', 'two shards, to a local stack'],
    )
    .notes(`The datastore must have the same number of shards, be empty or hold an earlier clone, and get no other writes during the
clone: their cells would take added ids. A repeated command continues, with newer cells. At the end the digests of
both logs must be equal, else it ends with 8. Indexes and triggers of the datastore see the cloned cells: leave
its triggers undefined or paused if they must not be called.`)
    .run<[shards: readonly number[] | undefined], CloneFlags>(async (session, [named = []], flags) =>
      cloneAll(session, named, flags),
    );
}

async function cloneAll(session: Session, named: readonly number[], flags: CloneFlags): Promise<Ending> {
  const { signal, afterwards } = session.untilInterrupted();
  const shown = await showProgress(process.stderr);
  try {
    const more: Connecting = { signal: afterwards };
    const [source, target] = await Promise.all([sourceOf(flags, more), session.connect(more)]);
    const wanted = await wantedOf(source, target, named);
    let cells = wanted.reduce((sum, { at }) => sum + at, 0);
    const totalCells = wanted.reduce((sum, { to }) => sum + to, 0);
    const cloning: Cloning = {
      source,
      target,
      signal,
      tell: (more_) => shown.tell({ cells: (cells += more_), totalCells }),
    };
    const endings: Ending[] = [];
    await session.output.list<Cloned>(cloned(cloning, wanted, endings), COLUMNS);
    if (signal.aborted) return 'interrupted';
    return endings.includes('differs') ? 'differs' : (endings[0] ?? 'ok');
  } finally {
    shown.stop();
  }
}

function sourceOf({ from, fromDatastore }: CloneFlags, more: Connecting): Promise<SchemalessClient> {
  const at = /^https?:/u.test(from) ? { url: from } : { profile: from };
  return openSession({ ...at, ...(fromDatastore !== undefined && { datastore: fromDatastore }) }).connect(more);
}

async function wantedOf(
  source: SchemalessClient,
  target: SchemalessClient,
  named: readonly number[],
): Promise<readonly ClonedShard[]> {
  const [there, here] = await Promise.all([source.heads(), target.heads()]);
  if (there.length !== here.length)
    throw new CommandError(`${source.name} has ${there.length} shards, ${target.name} here ${here.length}`, {
      ending: 'usage',
      fix: 'Clone into a datastore with as many shards: their number decides the shard of a row',
    });
  const missing = named.find((shard) => shard >= there.length);
  if (missing !== undefined) throw badUsage('shard', `0 to ${there.length - 1}`, String(missing));
  return there.flatMap((one): ClonedShard[] => {
    const own = here[one.shard];
    if (named.length > 0 && !named.includes(one.shard)) return [];
    if (one.error) throw one.error;
    if (!own || own.error) throw own?.error ?? new SchemalessError('unavailable', `no shard ${one.shard} here`);
    return [{ shard: one.shard, to: one.head, at: own.head }];
  });
}

async function* cloned(
  cloning: Cloning,
  wanted: readonly ClonedShard[],
  endings: Ending[],
): AsyncGenerator<readonly Cloned[]> {
  for (const some of slicesOf(wanted, AT_ONCE)) {
    if (cloning.signal.aborted) return;
    yield await Promise.all(
      some.map(async (one): Promise<Cloned> => {
        try {
          return { shard: one.shard, ...(await cloneLog(cloning, one)) };
        } catch (error) {
          if (!(error instanceof OtherLog) && !(error instanceof SchemalessError)) throw error;
          endings.push(error instanceof OtherLog ? 'differs' : endingOf(error));
          const code = error instanceof OtherLog ? 'differs' : error.code;
          return { shard: one.shard, error: { code, message: error.message } };
        }
      }),
    );
  }
}

export interface Cloning {
  readonly source: Pick<Datastore, 'log' | 'digest'>;
  readonly target: Pick<Datastore, 'batchRestore' | 'transact' | 'digest'>;
  readonly signal: AbortSignal;
  /** Receives the number of newly copied cells. */
  readonly tell?: (cells: number) => void;
}

interface ClonedShard {
  readonly shard: number;
  readonly to: number;
  readonly at: number;
}

/** The target's log differs or got other cells during the clone, or the source's has erasures or sealed fields. */
export class OtherLog extends Error {}

/** The bytes of bodies in one request, as JSON; the API accepts four times as much. */
const BATCH_BYTES = 1024 * 1024;
const bytesOf = ({ body }: Cell): number => JSON.stringify(body).length;
const PAUSE_MS = 500;
const TRIES = 20;

/**
 * Copies a shard's log to another store, with the same added ids and times, until both digests are equal. First
 * compares the existing cells, so that it can be repeated. Until it ends, no other writer may append to the shard.
 * Returns the digest at `to`, or at the last copied cell before the signal. Throws OtherLog.
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
    for (const { isWhole, items: batch } of transactionsAndBatches(cells, (cell) => cell, bytesOf, BATCH_BYTES)) {
      if (signal.aborted) break;
      await restore(() => (isWhole ? restoreWhole(target, batch) : target.batchRestore(batch)), batch);
      for (const cell of batch) digest = nextDigest(digest, cell);
      at = batch.at(-1)?.added_id ?? at;
      tell(batch.length);
    }
  }
  if (at < to) return { at, digest };
  // The digest of the stored cells, not of the sent ones.
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
  // The next page brings the whole transaction.
  const open = beginOfOpen(cells, ({ transaction }) => transaction);
  return open === 0 ? cells : cells.slice(0, open);
}

/** No writer can recreate an erased cell or an erasure, so later cells would get other added ids. */
function refuseErased(cells: readonly Cell[]): void {
  const gone = cells.find(({ erased, erasure }) => erased === true || erasure !== undefined);
  if (gone === undefined) return;
  const what = gone.erasure ? 'is an erasure' : 'was erased';
  throw new OtherLog(
    `shard ${gone.shard} cannot be cloned: what has the added id ${gone.added_id} ${what}. Export and import it instead: the cells get other added ids, and erased cells are left out`,
  );
}

/** Another deployment has other keys, so sealed fields have other bytes there, and the logs cannot be compared. */
function refuseSealed(cells: readonly Cell[]): void {
  const sealed = cells.find(({ body }) => stringifyJson(body).includes(`"${SEALED_KEY}"`));
  if (sealed === undefined) return;
  throw new OtherLog(
    `shard ${sealed.shard} cannot be cloned: what has the added id ${sealed.added_id} has sealed fields, and the other deployment has other keys. Export it with --opened and import that`,
  );
}

/** Retries until all cells are stored: an unavailable group buffers no cells that have given times. */
async function restore(send: () => Promise<readonly PutResult[]>, batch: readonly Cell[]): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const results = await send();
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
    if (tried === TRIES)
      throw new SchemalessError('unavailable', `shard ${refused.shard} took no cells: ${reasonOf(refused)}`);
    await pauseFor(PAUSE_MS);
  }
}

function reasonOf(result: PutResult): string {
  return 'reason' in result ? result.reason : result.outcome;
}

async function restoreWhole(target: Cloning['target'], cells: readonly Cell[]): Promise<readonly PutResult[]> {
  const result = await target.transact(toTransaction(cells, true));
  if ('cells' in result) {
    const [first] = result.cells;
    const refused = cells.find((cell) => cell.column_name === first?.column_name && cell.ref_key === first.ref_key);
    throw notTaken({ outcome: result.outcome, shard: result.shard }, refused);
  }
  if (!('added_ids' in result)) return [result as PutResult];
  const { outcome, shard, added_ids } = result;
  return added_ids.map((added_id) => ({ outcome, shard, added_id }));
}

function notTaken(result: PutResult | undefined, cell: Cell | undefined): OtherLog {
  const taken = `shard ${cell?.shard} cannot take the cell of added id ${cell?.added_id}`;
  if (result?.outcome === 'erased') return new OtherLog(`${taken}: its address was erased there`);
  if (result?.outcome === 'subject_forgotten') return new OtherLog(`${taken}: its subject was forgotten there`);
  return new OtherLog(
    `shard ${cell?.shard} has another writer: the cell of added id ${cell?.added_id} got another added id`,
  );
}
