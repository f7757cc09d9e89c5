import { expect, it } from 'vitest';
import type { RetentionRules } from '../../../shared/sql/hidden-cells.ts';
import { selectCells } from '../../../shared/sql/statements/select-cells.ts';
import { selectVersions } from '../../../shared/sql/statements/select-versions.ts';

const ROW = { row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', column_name: 'BASE' };
const KEYS = [
  { key: { ...ROW, ref_key: 3 }, shard: 1 },
  { key: ROW, shard: 1 },
];
const ruled = (retention: RetentionRules) => ({ datastore: 'trips', retention });
const statements = (rules?: RetentionRules) => [
  selectCells(ruled(rules), KEYS, false),
  selectVersions(ruled(rules), 1, { ...ROW, after: undefined, ascending: false, limit: 10, bytes: 1000 }, true),
];

it('columns without a rule are read by the statements that they always were', () => {
  const without = statements();
  expect(statements([{ column: 'OTHER', keepVersions: 10 }])).toEqual(without);
  expect(statements([{ column: 'BASE', keepVersions: 10 }])).not.toEqual(without);
  expect(statements([{ column: '*', keepForMs: 1000 }])).not.toEqual(without);
});

it('the latest cell is put out by no other, and asked for as ever', () => {
  const latest = (rules?: RetentionRules) => selectCells(ruled(rules), KEYS.slice(1), false);
  expect(latest([{ column: 'BASE', keepVersions: 1 }])).toEqual(latest());
});
