import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { erasuresClient } from '../../../../shared/client/erasures-client.ts';
import { retentionClient } from '../../../../shared/client/retention-client.ts';
import { METRICS } from '../../../../shared/metrics.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { localStack } from '../../../support/local-stack.ts';
import { comes } from '../../../support/until.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';

/** A whole stack, on a machine that has other things to do; what is erased is looked for each minute. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const PATIENCE = { patienceMs: 200_000, pollMs: 1000 };
const KEPT = 3;
const folder = temporaryFolder();
const stack = localStack(folder, {
  datastores: writeFiles(join(folder.path, 'deployed'), {
    'kept/datastore.yaml': `datastore: kept\nshards: 4\nretention:\n  - { column: STATUS, keep_versions: ${KEPT} }\n`,
  }),
});
const options = () => ({ url: stack().url, datastore: 'kept', retryBudget: false as const });

it('what a datastore does not keep is hidden at once, and erased by the functions, unless it is held', async () => {
  const kept = schemalessClient(options());
  const retention = retentionClient(options());
  const [free, held] = [randomUUID(), randomUUID()];
  await retention.putHold({ hold: 'case-17', row_key: held, reason: 'evidence' });
  for (const row_key of [free, held])
    await kept.batchPut(
      Array.from({ length: 20 }, (_, ref_key) => ({ row_key, column_name: 'STATUS', ref_key, body: { ref_key } })),
    );
  const { cells } = await kept.versions({ row_key: free, column_name: 'STATUS' });
  expect(cells.map(({ ref_key }) => ref_key)).toEqual([19, 18, 17]);
  const hidden = await kept.get({ row_key: free, column_name: 'STATUS', ref_key: 0 });
  expect(hidden).toMatchObject({ cell: { erased: true }, why: 'retention', rule: { keep_versions: KEPT } });
  expect((await retention.retention()).rules).toEqual([{ column: 'STATUS', keep_versions: KEPT }]);

  const isErased = async (): Promise<boolean> =>
    (await kept.get({ row_key: free, column_name: 'STATUS', ref_key: 16 })).erasure !== undefined;
  expect(await comes(isErased, PATIENCE)).toBe(true);
  expect((await kept.get({ row_key: held, column_name: 'STATUS', ref_key: 16 })).erasure).toBeUndefined();
  const isTold = async (): Promise<boolean> =>
    (await retention.retention()).columns.some(({ days }) => days.some((day) => day.cells === 20 - KEPT));
  expect(await comes(isTold, PATIENCE)).toBe(true);

  const erasures = erasuresClient(options());
  const erase = { row_key: held, reason: 'request 4711' };
  expect(await errorOf(() => erasures.erase(erase))).toMatchObject({ code: 'held', status: 409 });
  await retention.releaseHold({ hold: 'case-17', row_key: held });
  expect((await erasures.erase(erase)).state).toBe('erased');
});

it('a purge is done by the functions', async () => {
  const retention = retentionClient(options());
  await retention.purge();
  const isPurged = async (): Promise<boolean> => (await retention.retention()).purge?.state === 'purged';
  expect(await comes(isPurged, PATIENCE)).toBe(true);
  const { purge } = await retention.retention();
  // The functions' user may have the servers write over their logs.
  expect(purge).toMatchObject({ waits_for: null, logs_left: null, requested_by: expect.any(String) });
  expect(purge?.tables).toBeGreaterThanOrEqual(4);
});

it('there is a figure that server-errors subtracts, also while no index is being built', async () => {
  const metrics = join(dirname(stack().functionLog), 'metrics.log');
  const hasFigure = (): boolean =>
    existsSync(metrics) && readFileSync(metrics, 'utf8').includes(`"${METRICS.answeredIndexBuilding}":0`);
  expect(await comes(hasFigure, PATIENCE)).toBe(true);
});
