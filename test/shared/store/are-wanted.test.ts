import { expect, it } from 'vitest';
import { erasureAddress } from '../../../shared/address.ts';
import { areWanted } from '../../../shared/store/append.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { triggerNamed } from '../../support/trigger-named.ts';

const ROW = '6f1c5a1e-0f6c-4d0f-9a54-0d8c3a1b2c3d';
const of = (...columns: readonly (readonly string[] | undefined)[]) =>
  columns.map((some) => ({ definition: triggerNamed('one', some && { columns: some }) }));
const cell = (column_name: string) => cellOf({ row_key: ROW, column_name });
const erased = (target: object) => erasureAddress({ row_key: ROW, ...target });

it.each([
  ['none is wanted where there are no triggers', [], [cell('BASE')], false],
  ["a trigger of '*' wants each", of(undefined), [cell('NOTES')], true],
  ['one of a column does not want those of others', of(['BASE']), [cell('NOTES')], false],
  ['one of them is enough', of(['BASE']), [cell('NOTES'), cell('BASE')], true],
  ['for any of the triggers', of(['BASE'], ['NOTES']), [cell('NOTES')], true],
  ['also where another one wants all', of(['BASE'], undefined), [cell('NOTES')], true],
  ['an erased row is of every column', of(['BASE']), [erased({})], true],
  ['an erased column of its own', of(['BASE']), [erased({ column_name: 'BASE' })], true],
  ['and of no other', of(['BASE']), [erased({ column_name: 'NOTES' })], false],
  ['erased versions are of their column', of(['BASE']), [erased({ column_name: 'BASE', up_to: 3 })], true],
  ['an erased cell of its column', of(['BASE']), [erased({ column_name: 'BASE', ref_key: 3 })], true],
  ['and of no other one', of(['BASE']), [erased({ column_name: 'NOTES', ref_key: 3 })], false],
] as const)('%s', (_what, triggers, cells, wanted) => {
  expect(areWanted(triggers, cells)).toBe(wanted);
});
