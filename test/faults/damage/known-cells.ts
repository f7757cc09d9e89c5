import { equalJson } from '../../../shared/body/equal.ts';
import type { Json, NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { Random } from '../../support/random.ts';
import { baseCell, rowKeyIn } from '../row-keys.ts';

/** Cells of one shard in the order of their added ids, which begin at 1. */
export type KnownCells = readonly NewCell[];

/** What reads said of cells that are known. */
export interface Readings {
  readonly reads: number;
  readonly right: number;
  /** Answered with an error, or with the mark of one in its place. */
  readonly refused: number;
  /** Answered as something else than was written, or as if it were not there. */
  readonly wrong: number;
  /** The codes of the errors, each once. */
  readonly codes: readonly string[];
}

export interface ReadOptions {
  readonly datastore: Pick<Datastore, 'log' | 'get'>;
  readonly shard: number;
  readonly cells: KnownCells;
  /** Asked after each read that was refused as a whole, of which the server may have died: whether to read on. */
  readonly refused: () => Promise<boolean>;
}

const BATCH = 100;
/** Cells that one read of the log asks for: a small part of a page. */
const STEP = 10;
/** Behind a read that was refused as a whole: the rest of its page would be, too, and each may cost a server. */
const STRIDE = 30;
/** Every so many cells, one is also read by its address. */
const BY_ADDRESS = 5;

/** Writes cells into one shard. Throws when one is not stored at its turn. */
export async function writeKnown(
  datastore: Datastore,
  shard: number,
  bodies: readonly Json[],
  seed: string,
): Promise<KnownCells> {
  const random = new Random(seed, 'known cells', shard);
  const shards = new Set([shard]);
  const cells = bodies.map((body) => baseCell(rowKeyIn(random, shards, datastore.shards), body));
  for (let start = 0; start < cells.length; start += BATCH) {
    const results = await datastore.batchPut(cells.slice(start, start + BATCH));
    if (!results.every((result, position) => result.outcome === 'stored' && result.added_id === start + position + 1))
      throw new Error(`cells were not stored at their turn: ${JSON.stringify(results[0])}`);
  }
  return cells;
}

/** Reads them from the log, and some by their addresses, from the writer. */
export async function readKnown({ datastore, shard, cells, refused }: ReadOptions): Promise<Readings> {
  const counts = { reads: 0, right: 0, refused: 0, wrong: 0 };
  const codes = new Set<string>();
  const count = (what: 'right' | 'refused' | 'wrong', times = 1): void => {
    counts.reads += times;
    counts[what] += times;
  };
  const judge = (found: Found | null | undefined, cell: NewCell): void => {
    if (found?.error) {
      codes.add(found.error.code);
      count('refused');
    } else count(found?.row_key === cell.row_key && equalJson(found.body, cell.body) ? 'right' : 'wrong');
  };

  for (let start = 0; start < cells.length; start += STEP) {
    const wanted = cells.slice(start, start + STEP);
    const [log] = await datastore.log([{ shard, after: start }], { limit: STEP });
    if (!log || log.error) {
      codes.add(log?.error?.code ?? 'nothing');
      count('refused', wanted.length);
      start += STRIDE - STEP;
      if (!(await refused())) break;
      continue;
    }
    for (const [position, cell] of wanted.entries()) judge(log.cells[position], cell);
    for (const cell of wanted.filter((_, position) => position % BY_ADDRESS === 0)) {
      try {
        judge((await datastore.get(cell)).cell, cell);
      } catch (error) {
        codes.add(codeOf(error));
        count('refused');
        if (!(await refused())) return { ...counts, codes: [...codes] };
      }
    }
  }
  return { ...counts, codes: [...codes] };
}

interface Found extends Pick<NewCell, 'row_key' | 'body'> {
  readonly error?: { readonly code: string };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
