import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { importCells } from '../../../../infra/cli/files/import/import-cells.ts';
import { newJournal } from '../../../../infra/cli/files/import/journal.ts';
import { openInput } from '../../../../infra/cli/files/import/open-input.ts';
import type { NewCell, PutResult } from '../../../../shared/cell.ts';
import { readings } from '../../../support/files/readings.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { TIMED } from '../../../support/timed.ts';

const FLUSH_MS = 250;
const STORED_MS = 3000;
const { flushed } = vi.hoisted(() => ({ flushed: [] as number[] }));

/** A disk that takes its time. */
vi.mock('../../../../infra/cli/files/write-durably.ts', () => ({
  writeDurably: async () => {
    await sleep(FLUSH_MS);
    flushed.push(performance.now());
  },
}));

const folder = folderOfTests();

it('checkpoints of an import do not pile up on a disk that is slow to flush', TIMED, async () => {
  flushed.length = 0;
  const path = join(folder.path, 'cells.ndjson');
  writeFileSync(
    path,
    [...readings({ cells: 50, rows: 5, seed: 'slow' })].map((cell) => JSON.stringify(cell)).join('\n'),
  );
  const { sources, fingerprints, reading } = await openInput(path, {});
  let storedAt = 0;
  const client = {
    heads: async () => [{ shard: 0, group: 'group-1', head: 0, epoch: 1 }],
    batchPut: async (cells: readonly NewCell[]): Promise<readonly PutResult[]> => {
      await sleep(STORED_MS);
      storedAt = performance.now();
      return cells.map((_, at) => ({ outcome: 'stored', shard: 0, added_id: at + 1 }));
    },
  };
  const report = await importCells(client as unknown as Parameters<typeof importCells>[0], {
    sources,
    journal: newJournal({ url: 'here', datastore: 'readings', inputs: fingerprints, reading }),
    journalPath: `${path}.import-journal`,
    rejectsPath: `${path}.rejects.ndjson`,
  });
  const closedAt = performance.now();
  expect(report.counts.stored).toBe(50);
  // One as it begins, one that was under way at most, and the last: of one each 150 ms there would be twelve.
  expect(flushed.length).toBeLessThanOrEqual(5);
  expect(closedAt - storedAt).toBeLessThan(4 * FLUSH_MS);
});
