import { randomUUID } from 'node:crypto';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';

export const FORGOTTEN = 'clinic';
export const SHARDS = 8;
export const INDEX = 'by_mark';
export const MAIL_INDEX = 'by_mail';
export const TRIGGER = 'remind';

/** What bodies are marked with, by what becomes of them. */
export const MARKS = {
  /** Erased. */
  erased: 'eRaS-',
  /** Sealed, of subjects that are forgotten, and of such that are not. */
  forgotten: 'fOrG-',
  sealed: 'sEaL-',
  /** Beside what is sealed, and in all other rows. */
  kept: 'kEpT-',
} as const;
export type Fate = keyof typeof MARKS;
export const FATES = Object.keys(MARKS) as readonly Fate[];

/** The folder of datastores: one with sealed fields, an index of what is erased, another of what is sealed, a trigger. */
export const DEFINITIONS: Readonly<Record<string, string>> = {
  'clinic/datastore.yaml': `datastore: ${FORGOTTEN}
shards: ${SHARDS}
sealed:
  - { column: VISIT, subject: patient, fields: [name, contact.mail] }
`,
  // Its shard field is of all rows alike: what is left of an entry that is erased is that field.
  'clinic/indexes/by_mark.yaml': `table: ${INDEX}
datastore: ${FORGOTTEN}
column_defs:
  - column_key: BASE
    fields:
      - { field: kind, type: string }
      - { field: mark, type: string }
`,
  'clinic/indexes/by_mail.yaml': `table: ${MAIL_INDEX}
datastore: ${FORGOTTEN}
column_defs:
  - column_key: VISIT
    fields:
      - { field: contact.mail, type: string }
`,
  'clinic/triggers/remind.yaml': `trigger: ${TRIGGER}\ndatastore: ${FORGOTTEN}\ncolumns: [BASE, VISIT]\n`,
};

/** `eRaS-0a1b2c3d`: found wherever it lies. */
const markOf = (fate: Fate): string => `${MARKS[fate]}${randomUUID().slice(0, 8)}`;

/** Versions of a row, and a note. */
export function rowOf(fate: 'erased' | 'kept', row_key: string = randomUUID()): readonly NewCell[] {
  const cell = (column_name: string, ref_key: number): NewCell => ({
    row_key,
    column_name,
    ref_key,
    body: { kind: 'row', mark: markOf(fate) },
  });
  return [cell('BASE', 1), cell('BASE', 2), cell('NOTE', 1)];
}

/** A visit of a patient: what is sealed of it, and what is not. */
export function visitOf(patient: string, fate: 'forgotten' | 'sealed'): NewCell {
  const body = { patient, name: markOf(fate), contact: { mail: markOf(fate) }, room: markOf('kept') };
  return { row_key: randomUUID(), column_name: 'VISIT', ref_key: 1, body };
}

/** What was written before anything is erased. */
export interface Written {
  readonly erased: readonly NewCell[];
  readonly kept: readonly NewCell[];
  readonly visits: readonly NewCell[];
  readonly subjects: readonly string[];
  readonly others: readonly NewCell[];
}

/** Throws an Error where bodies would not lie on disk as they are. */
export function requireReadable(): void {
  for (const { body } of rowOf('erased'))
    if (!Buffer.from(encodeBody(body)).includes(MARKS.erased))
      throw new Error('wanted bodies of marks that are stored as they are');
}
