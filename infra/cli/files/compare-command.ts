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
    .description(
      'Says which cells of a file, or of a folder that an export made, the datastore lacks or has otherwise.',
    )
    .argument('<input>', 'file of NDJSON or CSV (also .gz, .zst), or folder of an export')
    .addOptions(inputFlags())
    .notes(
      `Stores nothing. Prints a line of NDJSON for each cell that differs, and ends with 8 where there are any; the counts come
last, to standard error.`,
    )
    .examples(
      ['schemaless compare backup', 'what is not as the export says'],
      ['schemaless import backup', 'brings back what is missing'],
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

interface Comparison {
  readonly compared: number;
  /** Cells that the datastore has erased; lines of cells that were before they were exported, and of erasures. */
  readonly erased: number;
  /** Lines that are no cells, as an import would reject them. */
  readonly unreadable: number;
  readonly missing: number;
  readonly other_body: number;
  readonly unanswered: number;
  readonly complete: boolean;
}

interface CompareOptions {
  readonly sources: readonly CellSource[];
  readonly found: (difference: CellDifference) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: FileProgress | undefined;
}

/** Cells that are in memory together, with what the datastore answers for them. */
const WINDOW = { items: 800, bytes: 4 * 1024 * 1024 };
const CONCURRENCY = 8;
const OF_ERASURES: readonly string[] = ['erased', 'erasure'];

/** Looks for every cell of some sources in a datastore. Throws `bad_input` if files differ from their manifests. */
export async function compareCells(
  client: Pick<SchemalessClient, 'batchGet' | 'with'>,
  { sources, found, signal, progress }: CompareOptions,
): Promise<Comparison> {
  const counts = { compared: 0, erased: 0, unreadable: 0, missing: 0, other_body: 0, unanswered: 0 };
  const from = sources.map((source) => ({ source, from: START }));
  try {
    for await (const window of readWindows(from, { ...WINDOW, signal })) {
      const items = window.flatMap((piece) => piece.items);
      for (const { reject } of items)
        if (reject) counts[OF_ERASURES.includes(reject.code) ? 'erased' : 'unreadable'] += 1;
      const cells = items.flatMap(({ cell }) => cell ?? []);
      const keys = cells.map(({ row_key, column_name, ref_key }) => ({ row_key, column_name, ref_key }));
      // As an export has them, by default: no key is needed to compare what is sealed.
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

/** Undefined where one of them is a pipe. */
function sizeOf(sources: readonly CellSource[]): number | undefined {
  const sizes = sources.map(({ size }) => size);
  return sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

function hasSealed({ body }: SourceCell): boolean {
  return stringifyJson(body).includes(`"${SEALED_KEY}"`);
}

/** `erased` is none: nothing is to bring that back. */
function differenceOf(
  { body }: SourceCell,
  item: Awaited<ReturnType<typeof getAll>>[number],
): Difference | 'erased' | undefined {
  if (item === null) return 'missing';
  if ('error' in item && item.error) return 'unanswered';
  if ('erased' in item && item.erased === true) return 'erased';
  return 'body' in item && equalJson(item.body, body) ? undefined : 'other_body';
}
