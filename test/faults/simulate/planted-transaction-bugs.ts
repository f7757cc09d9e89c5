import { rewordingPlans } from '../changed-clients.ts';
import { IS_WHOLE, readingBefore, splitting } from '../without/without-transactions.ts';
import type { PlantedBug } from './planted-bug.ts';

export const PLANTED_TRANSACTION_BUGS: readonly PlantedBug[] = [
  {
    name: 'part-appended',
    what: 'an append of a transaction leaves out the cells that exist',
    writing: rewordingPlans((sql) =>
      sql.includes('ROW_NUMBER()') && sql.includes(IS_WHOLE) && !sql.includes('old.added_id')
        ? sql.replace(IS_WHOLE, ' AND old.added_id IS NULL')
        : sql,
    ),
  },
  {
    name: 'part-drained',
    what: 'the drain appends the cells of a transaction one by one',
    draining: () => splitting(false),
  },
  {
    name: 'part-recovered',
    what: 'the cells of a transaction are brought back one by one',
    draining: () => splitting(true),
  },
  {
    name: 'condition-before',
    what: 'a condition is evaluated before the lock of its shard is taken',
    writing: readingBefore('writer'),
  },
  { name: 'condition-elsewhere', what: 'a condition is evaluated on a reader', writing: readingBefore('reader') },
  {
    name: 'both-copies',
    what: 'two copies of one transaction are both appended',
    flaws: { repeatsTransactions: true },
  },
];
