import { existsSync } from 'node:fs';
import type { ShardHead } from '../../../../shared/contract/datastore.ts';
import { shardOf } from '../../../../shared/address.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { FilesError, listed } from '../../../../shared/files/files-error.ts';
import { NO_COUNTS, type Counts } from './done-items.ts';
import { ImportKeeper } from './import-keeper.ts';
import type { ImportOptions } from './import-options.ts';
import { ofThisDatastore, type Journal } from './journal.ts';
import { Pipeline } from './pipeline.ts';
import { readInTurn } from './read-in-turn.ts';
import { restoringClient } from './restoring-client.ts';
import type { CellSource } from './source.ts';

export interface ImportReport {
  /** Of the whole import, those of calls before this one included; of one that was done already, nothing. */
  readonly counts: Counts;
  /** The file of rejects, where there are some, and it is there. */
  readonly rejects?: string;
  /** False where it was ended by its signal. */
  readonly complete: boolean;
  /** What became of the cells by the journal, which says that all was imported before: nothing was done. */
  readonly already?: Counts;
  readonly seconds: number;
}

const CONCURRENCY = 8;
const PATIENCE_MS = 600_000;
const WINDOW_CELLS = 20_000;
const WINDOW_BYTES = 8 * 1024 * 1024;

/**
 * Puts all cells of some sources. Cells of a row, and of a shard, are stored in the order of their source. Killed at any
 * moment and called again with its journal it goes on, and each cell is there once, since a put can be repeated.
 *
 * Cells that are refused go to the rejects file with line, code and reason, and the others go on. Those that are
 * answered `unavailable` are repeated with growing pauses; `buffered` counts as stored.
 *
 * @throws FilesError `too_many_rejects`, `no_progress`, `times_refused`; `other_import` where the datastore lacks what was stored;
 *   `bad_input` once all is stored, where files are not as their manifests say; SchemalessError where the datastore is not known, or what else
 *   no cell is at fault for. The journal says how far it came in each case.
 */
export async function importCells(
  client: Pick<SchemalessClient, 'batchPut' | 'batchRestore' | 'heads'>,
  options: ImportOptions,
): Promise<ImportReport> {
  const began = performance.now();
  const heads = await client.heads();
  const journal = ofThisDatastore(options.journal, heads);
  const { areTimesKept = false } = options;
  if (journal.complete) return alreadyDone(journal, options);
  return importRest(areTimesKept ? restoringClient(client) : client, { ...options, journal }, { heads, began });
}

async function importRest(
  client: Pick<SchemalessClient, 'batchPut'>,
  options: ImportOptions,
  { heads, began }: { readonly heads: readonly ShardHead[]; readonly began: number },
): Promise<ImportReport> {
  const groups = new Map(heads.map(({ shard, group }) => [shard, group]));
  const keeper = await ImportKeeper.open(options);
  const pipeline = new Pipeline({
    client,
    shardOf: (rowKey) => shardOf(rowKey, heads.length),
    groupOf: (shard) => groups.get(shard) ?? '',
    concurrency: options.concurrency ?? CONCURRENCY,
    windowCells: WINDOW_CELLS,
    windowBytes: WINDOW_BYTES,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
  });
  // Also when it waits for room, or for a group that does not answer.
  const stop = (): void => void pipeline.stop();
  options.signal?.addEventListener('abort', stop);
  try {
    const isWhole = await readAll(options, keeper, pipeline);
    if (isWhole) checkSources(options.sources);
    await keeper.close(isWhole);
  } catch (error) {
    await pipeline.stop();
    // The first error says why.
    await keeper.close(false).catch(() => undefined);
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  const { counts } = keeper;
  return {
    counts,
    ...rejectsIn(options.rejectsPath, counts),
    complete: keeper.isComplete,
    seconds: (performance.now() - began) / 1000,
  };
}

function alreadyDone(journal: Journal, { rejectsPath }: ImportOptions): ImportReport {
  const { counts: already, rejects = rejectsPath, complete } = journal;
  return {
    counts: NO_COUNTS,
    // Where they were written then, whatever is asked for now.
    ...rejectsIn(rejects, already),
    complete,
    already,
    seconds: 0,
  };
}

function rejectsIn(path: string, { rejected }: Counts): Pick<ImportReport, 'rejects'> {
  return rejected > 0 && existsSync(path) ? { rejects: path } : {};
}

/** A file that was cut, or changed, has given what it had by then. */
function checkSources(sources: readonly CellSource[]): void {
  const faults = sources.flatMap((source) => source.faults?.() ?? []);
  if (faults.length === 0) return;
  throw new FilesError(
    'bad_input',
    `input: wanted the files that the manifests of the export say; all that could be read was imported, but ${listed(faults)}`,
  );
}

/** Returns whether it came to the end of all sources. */
async function readAll({ signal }: ImportOptions, keeper: ImportKeeper, pipeline: Pipeline): Promise<boolean> {
  for await (const { source, items } of readInTurn(keeper.open, { signal, idle: () => pipeline.flush() })) {
    await keeper.untilNear(pipeline);
    for (const item of items) {
      const entry = keeper.begin(source, item);
      if (item.cell && !entry.end) await pipeline.add({ cell: item.cell, bytes: item.bytes, entry });
      if (signal?.aborted) break;
    }
    await keeper.checkpointIfDue();
  }
  if (signal?.aborted) await pipeline.stop();
  else await keeper.whileDraining(pipeline);
  return signal?.aborted !== true;
}
