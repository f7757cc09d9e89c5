import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { parseColumnName, parseRowKey } from '../../../shared/address.ts';
import { LIMITS, type PutResult } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { badUsage } from '../command-error.ts';
import { command } from '../cli.ts';
import type { Ending } from '../exit-codes.ts';
import { readBody } from '../input/read-body.ts';
import { printable } from '../output/printable.ts';

const ENDINGS: Readonly<Record<PutResult['outcome'], Ending>> = {
  stored: 'ok',
  stored_before: 'ok',
  buffered: 'ok',
  conflict: 'conflict',
  erased: 'conflict',
  subject_forgotten: 'conflict',
  unavailable: 'unavailable',
};

const CURES: Partial<Record<PutResult['outcome'], string>> = {
  buffered: 'buffered: kept by other groups, and not readable until its primary is back',
  conflict: 'conflict: another body is at this address, and cells never change: write a higher ref key',
  erased:
    'erased: what was at this address, or all of its column or row, was erased for good: nothing is written there',
  subject_forgotten:
    'subject_forgotten: the subject that it names was forgotten for good, and has fields sealed under its key',
  unavailable: 'unavailable: not confirmed',
};

export function put(): Command {
  return command('put')
    .description(
      'writes one cell; repeating it is safe, but for `new` and `next`: then with the keys that were printed',
    )
    .argument('<row-key>', 'a UUID; `new` makes one')
    .argument('<column>', 'its name')
    .argument('<ref-key>', 'its version, 0 to 2^53-1; `next` takes the one after the latest')
    .argument('[body]', 'JSON, @FILE, or - for standard input', '-')
    .examples(
      [`schemaless put new BASE 1 '{"city": "Lisbon"}'`, 'a new row'],
      ['schemaless put 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE 2 @trip.json', 'a correction, of a file'],
      ['jq .trip day.json | schemaless put new BASE 1', 'of standard input'],
      [`schemaless put 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 NOTES next '{"rating": 5}'`, 'the next ref key'],
    )
    .run<[rowKey: string, column: string, refKey: string, body: string]>(async (session, parameters) => {
      const [rowKey, column, refKey, given] = parameters;
      const row_key = rowKey === 'new' ? randomUUID() : parseRowKey(rowKey);
      const column_name = parseColumnName(column);
      const ref_key = refKey === 'next' ? undefined : readRefKey(refKey);
      const body = await readBody(given);
      const client = await session.connect();
      const written =
        ref_key === undefined
          ? client.putNext({ row_key, column_name, body })
          : client.put({ row_key, column_name, ref_key, body }).then((result) => ({ ...result, ref_key }));
      // The command as it was typed would write another cell: only this run knows the one that it began.
      const isMade = rowKey === 'new' || refKey === 'next';
      const { outcome, ...rest } = await (isMade
        ? written.catch((error: unknown) => unconfirmed(error, ref_key))
        : written);
      const { ref_key: taken, ...more } = rest;
      await session.output.record({ outcome, row_key, column_name, ref_key: taken, ...more });
      const cure = CURES[outcome];
      if (cure !== undefined) session.note(cure);
      if (outcome === 'unavailable')
        session.note(`repeat it, with the same body, as: schemaless put ${row_key} ${quoted(column_name)} ${taken}`);
      return ENDINGS[outcome];
    });
}

/** What became of a cell that may have been written, as far as is known. Throws the error of one that was not begun. */
function unconfirmed(
  error: unknown,
  given: number | undefined,
): { readonly outcome: 'unavailable'; readonly ref_key: number; readonly reason: string } {
  if (!(error instanceof SchemalessError) || error.retry === 'never') throw error;
  const ref_key = error.details.address?.ref_key ?? given;
  if (ref_key === undefined) throw error;
  return { outcome: 'unavailable', ref_key, reason: error.message };
}

function quoted(name: string): string {
  return /^[\w.-]+$/u.test(name) ? name : `'${printable(name).replaceAll("'", `'\\''`)}'`;
}

export function readRefKey(text: string): number {
  const value = Number(text);
  if (/^\d{1,16}$/u.test(text) && value <= LIMITS.refKey) return value;
  throw badUsage('ref-key', 'an integer from 0 to 2^53-1', JSON.stringify(text.slice(0, 60)));
}
