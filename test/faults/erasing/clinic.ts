import { randomUUID } from 'node:crypto';
import type { NewCell } from '../../../shared/cell.ts';
import { markedBody, markOf } from './marks.ts';

export const FORGOTTEN = 'clinic';
export const SHARDS = 8;
export const INDEX = 'by_mark';
export const MAIL_INDEX = 'by_mail';
export const TRIGGER = 'remind';

const indexOf = (table: string, column: string, ...fields: readonly string[]): string => `table: ${table}
datastore: ${FORGOTTEN}
column_defs:
  - column_key: ${column}
    fields:
${fields.map((field) => `      - { field: ${field}, type: string }\n`).join('')}`;

/** The datastores' files: one with sealed fields, an index of erased fields, another of sealed ones, and a trigger. */
export const DEFINITIONS: Readonly<Record<string, string>> = {
  'clinic/datastore.yaml': `datastore: ${FORGOTTEN}
shards: ${SHARDS}
sealed:
  - { column: VISIT, subject: patient, fields: [name, contact.mail] }
`,
  // All rows share the value of its shard field: an erased entry keeps only that.
  'clinic/indexes/by_mark.yaml': indexOf(INDEX, 'BASE', 'kind', 'mark'),
  'clinic/indexes/by_mail.yaml': indexOf(MAIL_INDEX, 'VISIT', 'contact.mail'),
  'clinic/triggers/remind.yaml': `trigger: ${TRIGGER}\ndatastore: ${FORGOTTEN}\ncolumns: [BASE, VISIT]\n`,
};

export function rowOf(fate: 'erased' | 'kept'): readonly NewCell[] {
  const row_key = randomUUID();
  const cell = (column_name: string, ref_key: number): NewCell => ({
    row_key,
    column_name,
    ref_key,
    body: markedBody(fate),
  });
  return [cell('BASE', 1), cell('BASE', 2), cell('NOTE', 1)];
}

export function visitOf(patient: string, fate: 'forgotten' | 'sealed'): NewCell {
  const body = { patient, name: markOf(fate), contact: { mail: markOf(fate) }, room: markOf('kept') };
  return { row_key: randomUUID(), column_name: 'VISIT', ref_key: 1, body };
}

export interface Written {
  readonly erased: readonly NewCell[];
  readonly kept: readonly NewCell[];
  readonly visits: readonly NewCell[];
  readonly subjects: readonly string[];
  readonly others: readonly NewCell[];
}
