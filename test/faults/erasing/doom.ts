import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { covers, type ErasureTarget } from '../../../shared/address.ts';
import type { CellAddress, NewCell, PutResult } from '../../../shared/cell.ts';
import type { Erasure, ErasureOperations } from '../../../shared/api/erasures.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Random } from '../../support/random.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { noOutcomes } from '../load/ledger.ts';
import { REASON } from './going-on.ts';

export interface Doomed {
  readonly target: ErasureTarget;
  readonly confirmed: number;
}

export interface DoomProgress {
  confirmed: number;
  after: number;
}

/** Part of each body of a doomed row, so that it is found anywhere. */
const MARK = 'doomed';
const VERSIONS = 3;
const WORKERS = 10;
const PAUSE_MS = 30;

type ErasureRequest = Parameters<ErasureOperations['eraseCells']>[0];

interface Doom {
  readonly store: Pick<OpenStore, 'datastore'>;
  readonly erasures: ErasureOperations;
  readonly random: Random;
  readonly progress: DoomProgress;
  readonly signal: AbortSignal;
}

/**
 * Writes rows and erases each, or a part of it, while its writes are repeated, with several workers until the signal.
 * Writes after the erasure's answer must be refused.
 */
export async function doomRows({ store: { datastore }, erasures, random, progress, signal }: Doom) {
  const rows: Doomed[] = [];
  /** Outcomes of writes begun after the erasure was answered as done. */
  const after = { ...noOutcomes(), refused: 0 };
  /** Those of them that were confirmed as stored: there should be none. */
  const accepted: NewCell[] = [];
  const answers = { erased: 0, erasing: 0, unavailable: 0 };

  const put = async (cell: NewCell): Promise<PutResult['outcome'] | 'refused'> => {
    try {
      return (await datastore.put(cell)).outcome;
    } catch (error) {
      if (error instanceof SchemalessError) return 'refused';
      throw error;
    }
  };

  async function doomOne(): Promise<void> {
    const row_key = randomUUID();
    const cells = cellsOf(row_key);
    const target = targetIn(row_key, random);
    const outcomes = await Promise.all(cells.map(put));
    const isConfirmed = (position: number): boolean =>
      ['stored', 'stored_before', 'buffered'].includes(outcomes[position] ?? '');
    const confirmed = cells.filter((cell, position) => covers(target, cell) && isConfirmed(position)).length;
    // Repeated during the erasure, by clients that do not know yet.
    const repeated = cells.map(put);
    const erased = await erase(target);
    await Promise.all(repeated);
    if (erased === undefined) return;
    rows.push({ target, confirmed });
    progress.confirmed += confirmed;
    for (const cell of [...cells, ...freshIn(row_key)]) {
      if (!covers(target, cell)) continue;
      const outcome = await put(cell);
      // An erasure without an added id also covers cells that are written before it has one.
      if (erased.state !== 'erased') continue;
      after[outcome] += 1;
      progress.after += 1;
      if (outcome === 'stored' || outcome === 'stored_before') accepted.push(cell);
    }
  }

  /** Retries until it is answered: an erasure may be repeated. */
  async function erase(target: ErasureTarget): Promise<Erasure | undefined> {
    while (!signal.aborted) {
      try {
        const erased = await erasures.eraseCells({ ...target, reason: REASON } as ErasureRequest);
        answers[erased.state] += 1;
        return erased;
      } catch (error) {
        if (!(error instanceof SchemalessError) || error.code !== 'unavailable') throw error;
        answers.unavailable += 1;
        await sleep(PAUSE_MS);
      }
    }
    return undefined;
  }

  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      await doomOne();
      // This thread also supervises the servers, and no call waits for an unavailable group.
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return { rows, after, accepted, answers };
}

function cellsOf(row_key: string): readonly NewCell[] {
  const versions = Array.from({ length: VERSIONS }, (_, version) => {
    const ref_key = version + 1;
    return { row_key, column_name: 'BASE', ref_key, body: { mark: `${MARK} ${row_key} ${ref_key}` } };
  });
  return [...versions, { row_key, column_name: 'NOTE', ref_key: 1, body: { note: `${MARK} ${row_key}` } }];
}

function freshIn(row_key: string): readonly NewCell[] {
  const body = { fresh: `${MARK} ${row_key}` };
  return [
    { row_key, column_name: 'BASE', ref_key: 0, body },
    { row_key, column_name: 'BASE', ref_key: VERSIONS + 1, body },
    { row_key, column_name: 'NEW', ref_key: 1, body },
  ];
}

export function cellOfMark(mark: string): CellAddress | undefined {
  const [word, row_key = '', version = ''] = mark.split(' ');
  return word === MARK ? { row_key, column_name: 'BASE', ref_key: Number(version) } : undefined;
}

function targetIn(row_key: string, random: Random): ErasureTarget {
  return random.pick<ErasureTarget>([
    { row_key },
    { row_key, column_name: 'BASE' },
    { row_key, column_name: 'BASE', up_to: 2 },
    { row_key, column_name: 'BASE', ref_key: 2 },
    // A version that never existed.
    { row_key, column_name: 'BASE', ref_key: VERSIONS + 1 },
  ]);
}

export function isBack(rows: ReadonlyMap<string, Doomed>, cell: CellAddress): boolean {
  const doomed = rows.get(cell.row_key);
  return doomed !== undefined && covers(doomed.target, cell);
}
