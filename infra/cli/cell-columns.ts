import { stringifyJson } from '../../shared/body/json.ts';
import type { Cell, ErasureScope } from '../../shared/cell.ts';
import type { Column } from './output/output.ts';

export const CELL_COLUMNS: readonly Column<Cell>[] = [
  { header: 'ROW KEY', value: ({ row_key }) => row_key, width: 36 },
  { header: 'COLUMN', value: ({ column_name }) => column_name, width: 8 },
  { header: 'REF', value: ({ ref_key }) => ref_key, width: 3 },
  { header: 'SHARD', value: ({ shard }) => shard, wide: true },
  { header: 'ADDED', value: ({ added_id }) => added_id, width: 6 },
  { header: 'CREATED', value: ({ created_at }) => created_at.replace(/\.\d+/u, ''), width: 20 },
  { header: 'BODY', value: bodyShown },
];

const WHAT: Readonly<Record<ErasureScope, string>> = {
  row: 'the row',
  column: 'the column',
  versions: 'the versions up to this one',
  cell: 'this cell',
};

function bodyShown({ body, erased, erasure, error }: Cell): string {
  if (error) return `(${error.code}: ${error.message})`;
  if (erasure) return `(erases ${WHAT[erasure.scope]}: ${erasure.reason})`;
  return erased === true ? '(erased)' : stringifyJson(body);
}
