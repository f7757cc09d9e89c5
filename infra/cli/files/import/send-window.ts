import { shardOf } from '../../../../shared/address.ts';
import { LIMITS, type PutResult, type RestoredCell, type TransactionResult } from '../../../../shared/cell.ts';
import { BatchWriter, type PutEnd } from '../../../../shared/client/batch-writer.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import type { SchemalessError } from '../../../../shared/errors.ts';
import { toTransaction, transactionsAndBatches } from '../../../../shared/client/transaction-runs.ts';
import { groupBy } from '../../../../shared/group-by.ts';
import { endOfTransaction, rejected } from './end-of-transaction.ts';
import { watchedSends } from './watched-sends.ts';
import type { CellItem, Settlement, SourceCell, SourceItem } from './source.ts';

/** Half of the limit of a request: a cell's bytes do not include escapes and addresses. */
const BATCH_BYTES = LIMITS.requestBytes / 2;
/** Matches the refused cell in an error's field. */
const POSITION = /^cells\[\d+\]\.?/u;

interface SendOptions {
  readonly client: Pick<SchemalessClient, 'batchPut' | 'batchRestore' | 'transact'>;
  readonly heads: readonly ShardHead[];
  readonly areTimesKept: boolean;
  readonly concurrency: number;
  readonly patienceMs: number;
  /** Stops sending, and awaits the current requests. */
  readonly signal: AbortSignal | undefined;
  readonly told: (settled: Settled) => void;
}

export type Settled = ReadonlyMap<SourceItem, Settlement>;

/**
 * Puts cells, and retries unavailable ones. Sends one batch of a shard at a time, so that its cells are stored in
 * order. Many cells of a shard cost hardly more than one. Fails with FilesError `no_progress`, `times_refused`, or a
 * SchemalessError that no cell caused. Items that `settled` lacks were not sent, or not confirmed; `failure` is why the
 * import cannot continue.
 */
export async function sendWindow(items: readonly SourceItem[], options: SendOptions) {
  const { client, heads, areTimesKept, concurrency, patienceMs, signal, told } = options;
  const settled = new Map<SourceItem, Settlement>();
  const cells: CellItem[] = [];
  for (const item of items)
    if (item.cell) cells.push(item);
    else settled.set(item, item.reject ? { end: 'rejected', reject: item.reject } : { end: 'skipped' });

  const stop = new AbortController();
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    stop.abort();
  };
  const ended = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  const watched = watchedSends({ patienceMs, areTimesKept, fail });
  const batchPut = (some: readonly SourceCell[]): Promise<readonly PutResult[]> =>
    watched(() => (areTimesKept ? client.batchRestore(some as readonly RestoredCell[]) : client.batchPut(some)));
  const writeWhole = async (some: readonly Placed[]): Promise<void> => {
    const transaction = toTransaction(
      some.map(({ cell }) => cell),
      areTimesKept,
    );
    const transact = async (): Promise<TransactionResult> => {
      const [result] = await watched(async () => [await client.transact(transaction)]);
      return result as TransactionResult;
    };
    const settlement = await endOfTransaction(transaction.row_key, transact, ended).catch(fail);
    for (const { position } of some) {
      const item = cells[position];
      if (item && settlement) settled.set(item, settlement);
    }
  };
  const onResult = ({ cell, position, result, error }: PutEnd): void => {
    const item = cells[position];
    const settlement = result ? endOf(cell, result) : rejectOf(error);
    if (item && settlement) settled.set(item, settlement);
    else if (error && error.retry !== 'later') fail(error);
  };

  const writer = new BatchWriter({ batchPut }, { tries: Infinity, signal: ended, onResult });
  const lanes = lanesOf(cells, heads, concurrency).map(async (lane) => {
    const batches = transactionsAndBatches(
      lane,
      ({ cell }) => cell,
      ({ bytes }) => bytes,
      BATCH_BYTES,
    );
    for (const { isWhole, items: batch } of batches) {
      if (ended.aborted) return;
      await (isWhole ? writeWhole(batch) : writer.write(batch));
      told(settled);
    }
  });
  await Promise.all(lanes);
  return { settled, failure };
}

interface Placed {
  readonly cell: SourceCell;
  readonly bytes: number;
  readonly position: number;
}

/** Divides cells into lanes of similar size. All cells of a shard are in one lane, in their order. */
function lanesOf(items: readonly CellItem[], heads: readonly ShardHead[], lanes: number): readonly Placed[][] {
  const placed = items.map(({ cell, bytes }, position): Placed => ({ cell, bytes, position }));
  const byShard = groupBy(placed, ({ cell }) => shardOf(cell.row_key, heads.length));
  const inOrder = heads.toSorted((one, other) =>
    one.group === other.group ? one.shard - other.shard : one.group < other.group ? -1 : 1,
  );
  const all = Array.from({ length: lanes }, (): Placed[] => []);
  let before = 0;
  for (const { shard } of inOrder) {
    const cells = byShard.get(shard) ?? [];
    const lane = all[Math.floor((before * lanes) / items.length)];
    for (const cell of cells) lane?.push(cell);
    before += cells.length;
  }
  return all;
}

function endOf(cell: SourceCell, result: PutResult): Settlement | undefined {
  const at = `${cell.row_key}/${cell.column_name}/${cell.ref_key}`;
  switch (result.outcome) {
    case 'unavailable':
      return undefined;
    case 'conflict':
      return rejected('conflict', `Another body is at ${at}; cells never change`);
    case 'erased':
      return rejected('erased', `${at} was erased for good from the datastore; it is not stored again`);
    case 'subject_forgotten':
      return rejected(
        'subject_forgotten',
        `${result.field} of ${at} names a subject that was forgotten for good; what is sealed is not stored again`,
      );
    default:
      return { end: result.outcome };
  }
}

/** Returns undefined if no cell caused the error. */
function rejectOf({ code, message, field, retry }: SchemalessError): Settlement | undefined {
  if (retry === 'later' || (code !== 'request_too_large' && !POSITION.test(field ?? ''))) return undefined;
  return rejected(code, message.replace(POSITION, ''), field?.replace(POSITION, ''));
}
