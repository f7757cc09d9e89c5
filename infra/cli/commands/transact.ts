import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { parseRowKey } from '../../../shared/address.ts';
import { isObject, type RowTransaction, type TransactionResult } from '../../../shared/cell.ts';
import { invalidField } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import type { Ending } from '../errors.ts';
import { ENDINGS as OF_CELLS, readBody } from './put.ts';

const ENDINGS: Readonly<Record<TransactionResult['outcome'], readonly [Ending, note?: string]>> = {
  ...OF_CELLS,
  conflict: ['conflict', 'another body is at these addresses; nothing was written'],
  condition_failed: ['conflict', 'a column has another latest cell; nothing was written'],
  erased: ['conflict', 'these addresses were erased permanently; nothing was written'],
  unavailable: ['unavailable', 'not confirmed: repeat it as it is'],
};

export function transact(): Command {
  return command('transact')
    .description('write several cells of one row, all or none; repeating it is safe')
    .argument('<row-key>', 'a UUID; `new` makes one')
    .argument('<transaction>', 'JSON, @FILE, or - for standard input: {"cells": […], "if": […]}')
    .examples(
      [
        `schemaless transact new '{"cells": [{"column_name": "ORDER", "ref_key": 0, "body": {"total": 12}}, {"column_name": "OUTBOX", "ref_key": 0, "body": "placed"}]}'`,
        'an order and its event',
      ],
      ['schemaless transact 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 @paid.json', 'of a file'],
    )
    .run<[rowKey: string, transaction: string]>(async (session, [rowKey, given]) => {
      const row_key = rowKey === 'new' ? randomUUID() : parseRowKey(rowKey);
      const transaction = await readBody(given);
      if (!isObject(transaction)) throw invalidField('transaction', 'an object with `cells`', transaction);
      const client = await session.connect();
      const { cells, if: conditions } = transaction as unknown as RowTransaction;
      const result = await client.transact({ row_key, cells, if: conditions });
      await session.output.record({ row_key, ...result });
      const [ending, note] = ENDINGS[result.outcome];
      if (note !== undefined) session.note(`${result.outcome}: ${note}`);
      return ending;
    });
}
