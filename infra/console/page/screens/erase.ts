import type { Erasure } from '../../../../shared/api/erasures.ts';
import { unlessDenied } from '../api.ts';
import type { ShownCell } from '../cells.ts';
import type { Action } from '../session.ts';
import { counted, visible } from '../text.ts';

interface EraseTarget {
  readonly row_key: string;
  /** @default the whole row */
  readonly column_name?: string | undefined;
}

interface Latest {
  readonly cells: readonly ShownCell[];
  readonly next: string | null;
}

export function eraseAction({ row_key, column_name }: EraseTarget): Action {
  const what = column_name === undefined ? `the row ${row_key}` : `the column ${visible(column_name)} of ${row_key}`;
  const words = ['erase', row_key, ...(column_name === undefined ? [] : [column_name]), '--reason'];
  return {
    title: column_name === undefined ? 'Erase the row' : 'Erase the column',
    operation: 'eraseCells',
    cli: (reason) => [...words, reason === '' ? 'WHY' : reason],
    question: 'Why? The reason is stored permanently, and readers of the row see it: write no personal data.',
    needsAnswer: true,
    word: row_key,
    foresee: async (ask) => {
      const now = await unlessDenied<Latest>(ask(['rows', row_key], { query: { column: column_name } }));
      const says = `All bodies of ${what} are erased permanently: from its group, its buffered copies, its index entries and its parked cells. These addresses accept no writes afterwards.`;
      // A caller may have the right to erase without the right to read.
      if (!now) return { says: `${says} You may not see its present cells.` };
      return {
        says: `${says} Now it has ${counted(now.cells.length, 'column')}${now.next === null ? '' : ' and more'}:`,
        some: now.cells
          .slice(0, 20)
          .map(
            (cell) =>
              `${visible(cell.column_name)}, latest version ${cell.ref_key}${cell.erased === true ? ', erased already' : ''}`,
          ),
      };
    },
    act: async ({ ask, answer }) => {
      const record = await ask<Erasure>(['erasures'], { body: { row_key, column_name, reason: answer } });
      const done = `${counted(record.cells, 'body', 'bodies')} erased, record ${record.id}.`;
      return record.state === 'erased'
        ? `${done} It is done everywhere.`
        : `${done} It continues in the background: ${record.waits_for ?? 'see Erasures'}.`;
    },
  };
}
