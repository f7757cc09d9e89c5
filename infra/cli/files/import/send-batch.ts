import type { PutResult } from '../../../../shared/cell.ts';
import type { SchemalessClient } from '../../../../shared/client/client.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import type { End } from './done-items.ts';
import type { Waiting } from './shard-queues.ts';
import type { Reject, SourceCell } from './source.ts';

/** What became of the cells of a batch: those that are missing are to be sent again, for a reason that may pass. */
interface Settled extends Map<Waiting, Settlement> {
  /** Why the last of those that are missing was not taken. */
  whyNot?: string;
}

interface Settlement {
  readonly end: End;
  readonly reject?: Reject;
}

/** The cell that a refusal is about. */
const POSITION = /^cells\[(\d+)\]\.?/u;

/**
 * Sends cells, in their order, and says of each what became of it. A cell for which the whole request is refused is
 * rejected, and the others are sent again without it.
 *
 * @throws SchemalessError where no cell is at fault, and to repeat it would not help: an unknown datastore
 */
export async function sendBatch(
  client: Pick<SchemalessClient, 'batchPut'>,
  items: readonly Waiting[],
): Promise<Settled> {
  const settled: Settled = new Map();
  let rest = items;
  while (rest.length > 0) {
    try {
      const cells = rest.map(({ cell }) => cell.unpack());
      const results = await client.batchPut(cells);
      for (const [position, result] of results.entries()) {
        const item = rest[position];
        const cell = cells[position];
        const end = cell && endOf(cell, result);
        if (item && end) settled.set(item, end);
        else if (result.outcome === 'unavailable') settled.whyNot = `shard ${result.shard}: ${result.reason}`;
      }
      return settled;
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
      if (error.retry === 'later') {
        settled.whyNot = `${error.code}: ${error.message}`;
        return settled;
      }
      const refused = await refusedOf(client, rest, error, settled);
      rest = rest.filter((item) => item !== refused && !settled.has(item));
      if (refused === undefined) return settled;
    }
  }
  return settled;
}

/** The cell that was refused, settled. Undefined where the request was too large, and was sent in halves instead. */
async function refusedOf(
  client: Pick<SchemalessClient, 'batchPut'>,
  items: readonly Waiting[],
  error: SchemalessError,
  settled: Settled,
): Promise<Waiting | undefined> {
  const { code, message, details } = error;
  const position = POSITION.exec(details.field ?? '')?.[1];
  const [only] = items;
  const refused = position === undefined ? (items.length === 1 ? only : undefined) : items[Number(position)];
  if (refused && (position !== undefined || code === 'request_too_large')) {
    const field = details.field?.replace(POSITION, '');
    settled.set(refused, { end: 'rejected', reject: { code, reason: message.replace(/^cells\[\d+\]\./u, ''), field } });
    return refused;
  }
  if (code !== 'request_too_large') throw error;
  const half = Math.ceil(items.length / 2);
  for (const some of [items.slice(0, half), items.slice(half)]) {
    const ends = await sendBatch(client, some);
    for (const [item, end] of ends) settled.set(item, end);
    if (ends.whyNot !== undefined) settled.whyNot = ends.whyNot;
    // What follows may hold later cells of a row of which an earlier one is to be sent again.
    if (ends.size < some.length) break;
  }
  return undefined;
}

function endOf(cell: SourceCell, result: PutResult): Settlement | undefined {
  switch (result.outcome) {
    case 'unavailable':
      return undefined;
    case 'conflict':
      return rejectedAs('conflict', `Another body is at ${addressText(cell)}; cells never change`);
    case 'erased':
      return rejectedAs(
        'erased',
        `${addressText(cell)} was erased for good from the datastore; it is not stored again`,
      );
    case 'subject_forgotten':
      return rejectedAs(
        'subject_forgotten',
        `${result.field} of ${addressText(cell)} names a subject that was forgotten for good; what is sealed is not stored again`,
      );
    default:
      return { end: result.outcome };
  }
}

function rejectedAs(code: string, reason: string): Settlement {
  return { end: 'rejected', reject: { code, reason } };
}

function addressText({ row_key, column_name, ref_key }: SourceCell): string {
  return `${row_key}/${column_name}/${ref_key}`;
}
