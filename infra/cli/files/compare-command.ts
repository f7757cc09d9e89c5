import type { Command } from 'commander';
import { equalJson } from '../../../shared/body/equal.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { CellAddress } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { SEALED_KEY } from '../../../shared/definitions/field-value.ts';
import type { FileProgress } from '../../../shared/files/file-progress.ts';
import { command } from '../cli.ts';
import type { Ending } from '../errors.ts';
import { writeTo } from '../output/output.ts';
import { inputFlags, keepHeapSmall, type InputFlags } from './files-command.ts';
import { openInput } from './import/open-input.ts';
import { readWindows } from './import/read-windows.ts';
import { checkSources, START, type CellSource, type SourceCell } from './import/source.ts';
import { showProgress } from './progress.ts';

export function compareCommand(): Command {
  return command('compare')
    .description('list the cells of a file, or of an export, that the datastore lacks or has with another body')
    .argument('<input>', 'file of NDJSON or CSV (also .gz, .zst), or folder of an export')
    .addOptions(inputFlags())
    .notes(
      `Stores nothing. Prints a line of NDJSON for each cell that differs, and ends with 8 where there are any; the counts come
last, to standard error.`,
    )
    .examples(
      ['schemaless compare backup', 'the differences from the export'],
      ['schemaless import backup', 'restores the missing cells'],
    )
    .run<[string], InputFlags>(async (session, [path], { format, mapping, refKey }) => {
      keepHeapSmall();
      const { signal, afterwards } = session.untilInterrupted();
      const client = await session.connect({ signal: afterwards });
      const write = writeTo(process.stdout);
      const { sources } = await openInput(path, { format, mapping, defaultRefKey: refKey });
      const comparison = await compareCells(client, {
        sources,
        found: (difference) => write(`${JSON.stringify(difference)}\n`),
        signal,
        progress: await showProgress(process.stderr),
      });
      process.stderr.write(`${JSON.stringify(comparison)}\n`);
      return endingOf(comparison);
    });
}

function endingOf({ complete, missing, other_body, unanswered, unreadable }: Comparison): Ending {
  if (!complete) return 'interrupted';
  if (unanswered > 0) return 'unavailable';
  if (missing + other_body > 0) return 'differs';
  return unreadable > 0 ? 'rejects' : 'ok';
}

type Difference = 'missing' | 'other_body' | 'unanswered';

export interface CellDifference extends CellAddress {
  readonly difference: Difference;
  readonly created_at?: string;
}

interface CompareOptions {
  readonly sources: readonly CellSource[];
  readonly found: (difference: CellDifference) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}

/** The cells in memory at the same time, with the datastore's answers. */
const WINDOW = { items: 800, bytes: 4 * 1024 * 1024 };
const CONCURRENCY = 8;
const OF_ERASURES: readonly string[] = ['erased', 'erasure'];

type Comparison = Awaited<ReturnType<typeof compareCells>>;

/** Compares every cell of some sources with a datastore. Throws `bad_input` if files differ from their manifests. */
export async function compareCells(
  client: Pick<SchemalessClient, 'batchGet' | 'with'>,
  { sources, found, signal, progress }: CompareOptions,
) {
  const counts = { compared: 0, erased: 0, unreadable: 0, missing: 0, other_body: 0, unanswered: 0 };
  const from = sources.map((source) => ({ source, from: START }));
  try {
    for await (const window of readWindows(from, { ...WINDOW, signal })) {
      const items = window.flatMap((piece) => piece.items);
      for (const { reject } of items)
        if (reject) counts[OF_ERASURES.includes(reject.code) ? 'erased' : 'unreadable'] += 1;
      const cells = items.flatMap(({ cell }) => cell ?? []);
      const keys = cells.map(({ row_key, column_name, ref_key }) => ({ row_key, column_name, ref_key }));
      // Sealed fields are compared as an export has them by default, which needs no key.
      const read = await getAll(client, keys, { concurrency: CONCURRENCY, sealed: cells.some(hasSealed) });
      for (const [position, cell] of cells.entries()) {
        const difference = differenceOf(cell, read[position] ?? null);
        counts.compared += 1;
        if (difference === 'erased') counts.erased += 1;
        if (difference === undefined || difference === 'erased') continue;
        counts[difference] += 1;
        const { created_at } = cell;
        const key = keys[position] as CellAddress;
        await found({ ...key, ...(created_at !== undefined && { created_at }), difference });
      }
      const bytes = sources.reduce((sum, source) => sum + source.bytesRead(), 0);
      progress?.tell({ cells: counts.compared, bytes, totalBytes: sizeOf(sources) });
    }
  } finally {
    progress?.stop();
  }
  const complete = signal?.aborted !== true;
  if (complete) checkSources(sources, 'compared');
  return { ...counts, complete };
}

/** Returns undefined if one of them is a pipe. */
function sizeOf(sources: readonly CellSource[]): number | undefined {
  const sizes = sources.map(({ size }) => size);
  return sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

function hasSealed({ body }: SourceCell): boolean {
  return stringifyJson(body).includes(`"${SEALED_KEY}"`);
}

/** `erased` is no difference: an erased cell must not come back. */
function differenceOf(
  { body }: SourceCell,
  item: Awaited<ReturnType<typeof getAll>>[number],
): Difference | 'erased' | undefined {
  if (item === null) return 'missing';
  if ('error' in item && item.error) return 'unanswered';
  if ('erased' in item && item.erased === true) return 'erased';
  return 'body' in item && equalJson(item.body, body) ? undefined : 'other_body';
}
