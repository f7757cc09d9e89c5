import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../infra/app-context.ts';
import { processesNaming } from '../infra/local/platform/process-table.ts';
import type { NewCell } from '../shared/cell.ts';
import { temporaryFolder } from './infra/support/temporary-folder.ts';
import { cellOf } from './support/datastore-conformance.ts';
import { localStack } from './support/local-stack.ts';
import { AT_ONCE, mixedUp, plantSharedVariable } from './support/side-by-side.ts';
import { operatorsClient, type OperatorsClient } from './support/operators-client.ts';
import { until } from './support/until.ts';

const folder = temporaryFolder();
const datastores = join(folder.path, 'datastores');
cpSync(join(PROJECT_ROOT, 'infra/datastores/smoke'), join(datastores, 'smoke'), { recursive: true });
/** A writer that dies stays down until the test promotes its reader. */
const stack = localStack(folder, {
  groups: 3,
  readers: 1,
  shards: 6,
  datastores,
  restartAfterSeconds: 0,
  concurrency: AT_ONCE,
});
const smoke = (): OperatorsClient => operatorsClient({ url: stack().url, datastore: 'smoke' });

it('a local stack puts a cell, reads it, finds it by an index and calls the function of its trigger', async () => {
  const driver_uuid = randomUUID();
  const cell = cellOf({ body: { driver_uuid, city: 'Lisbon' } });
  expect(await smoke().put(cell)).toMatchObject({ outcome: 'stored' });
  expect(await smoke().get(cell)).toMatchObject({ cell: { body: cell.body }, served_by: 'writer', stale: false });
  const call = cellOf({ column_name: 'CALL', body: { output: driver_uuid } });
  expect(await smoke().put(call)).toMatchObject({ outcome: 'stored' });
  await until('the index has the row', async () => {
    const { entries } = await smoke().query({ index: 'driver_index', where: { driver_uuid } });
    return entries.length === 1 && entries[0]?.row_key === cell.row_key;
  });
  await until(
    'the function has answered',
    async () => (await smoke().get({ ...call, column_name: 'ECHO' })).cell !== null,
  );
  expect((await smoke().get({ ...call, column_name: 'ECHO' })).cell?.body).toEqual(call.body);
});

it('an instance answers 64 requests side by side and mixes none of them, unless it keeps an id in a variable', async () => {
  expect(await mixedUp(stack())).toEqual([]);
  const writers = stack()
    .functions.status()
    .find(({ title }) => title === 'write-cells');
  expect(writers?.instances).toHaveLength(1);
  const takeBack = await plantSharedVariable(stack(), 'write-cells');
  const mixed = await mixedUp(stack());
  await takeBack();
  for (const what of ['answer to', 'log line of', 'metrics of'])
    expect(mixed).toContainEqual(expect.stringContaining(what));
});

it('writes continue while the writer of a group is down, and none of them is lost', async () => {
  const acknowledged: NewCell[] = [];
  let outcomes = new Set<string>();
  const end = new AbortController();
  const write = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const cell = cellOf({ body: { number: acknowledged.length } });
      const { outcome } = await smoke().put(cell);
      outcomes.add(outcome);
      if (outcome === 'stored' || outcome === 'buffered') acknowledged.push(cell);
    }
  };
  const writing = Promise.all([write(), write(), write()]);
  await until('some are stored', () => acknowledged.length > 20);
  await stack().groups.kill('group-1-a');
  outcomes = new Set();
  await until('writes are stored and buffered', () => outcomes.has('stored') && outcomes.has('buffered'));
  await stack().groups.promote('group-1');
  const before = acknowledged.length;
  await until('more are written to the promoted writer', () => acknowledged.length > before + 20);
  end.abort();
  await writing;
  let bodies: readonly unknown[] = [];
  await until('every acknowledged cell is readable', async () => {
    const found = await Promise.all(acknowledged.map((cell) => smoke().get(cell)));
    bodies = found.map(({ cell }) => cell?.body);
    return found.every(({ cell }) => cell !== null);
  });
  expect(bodies).toEqual(acknowledged.map(({ body }) => body));
  await until('the buffer is empty', async () =>
    (await smoke().getBuffer()).groups.every((group) => !('error' in group) && group.rows === 0),
  );
});

it('a local stack stops without leaving a process', async () => {
  const ours = (): readonly number[] => processesNaming(folder.path + sep).filter((pid) => pid !== process.pid);
  expect(ours().length).toBeGreaterThan(5);
  await stack().stop();
  expect(ours()).toEqual([]);
});
