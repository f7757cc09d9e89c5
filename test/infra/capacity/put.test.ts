import { expect, it } from 'vitest';
import { ASSUMPTIONS } from '../../../infra/capacity/assumptions.ts';
import { putOf } from '../../../infra/capacity/database.ts';
import { FINDINGS_FILE, readFindings } from '../../bench/report/findings-file.ts';

const found = readFindings(FINDINGS_FILE).filter(({ name }) => name === 'writes');

it.runIf(found.length > 0)('a put of the model sends what the bench found, on each engine', () => {
  // The bench's puts have one entry each, and a copy.
  const { statements, commits } = putOf({ bufferCopies: 1 }, { ...ASSUMPTIONS, entriesPerWrite: 1 });
  for (const { measured, run } of found) {
    const row = measured.find(({ what }) => what === 'a put: statements, commits, round trips a cell');
    expect(row?.figure.split(', ').slice(0, 2).map(Number), run.engine).toEqual([statements, commits]);
  }
});
