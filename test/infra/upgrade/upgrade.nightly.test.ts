import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { CONTROL_STEPS } from '../../../shared/migrate/steps.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { queueAt, sqsClient } from '../support/fifo-queue.ts';
import { STAND_INS } from '../support/synthesized.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { contentsOf, type Contents } from './contents.ts';
import { fieldsOf, latestBases, leaveRelease, STORED_A_SHARD, type Held, type PlacedCell } from './release.ts';
import { runningGroups } from './running-groups.ts';
import { writeFiles } from '../support/write-files.ts';

const SOON = { interval: 250 };

/** Added by the second deployment. */
const LATER = {
  'trips/indexes/fare_index.yaml':
    'table: fare_index\ndatastore: trips\ncolumn_defs:\n  - column_key: BASE\n    fields:\n      - { field: fare, type: integer }\n      - { field: city, type: string }\n',
  'trips/triggers/elsewhere.yaml': 'trigger: elsewhere\ndatastore: trips\ncolumns: [BASE]\nstart: 0\n',
  'smoke/datastore.yaml': 'datastore: smoke\nshards: 8\n',
};

const SHARDS = 6;
const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);
const first = join(import.meta.dirname, 'datastores');
const datastore = loadDefinitions(first).datastores[0];

let folder: ReturnType<typeof temporaryFolder>;
let held: Held;
let before: Contents;
let stack: LocalStack;

function start(more: Partial<LocalStackOptions> = {}): Promise<LocalStack> {
  const { engine, access } = inject('servers');
  return startLocalStack({
    port: 0,
    data: join(folder.path, 'data'),
    groups: 3,
    readers: 0,
    restartAfterSeconds: 0,
    engine: engine.kind,
    access,
    datastores: first,
    ...more,
  });
}

/** On the servers of a stack whose functions are stand-ins: nothing but the release has been there. */
async function leavePreviousRelease(): Promise<void> {
  if (!datastore) throw new Error('wanted a datastore');
  const bare = await start({ functionsFolder: STAND_INS });
  const client = dynamoClient(bare.endpoints.dynamodb);
  try {
    const table = bare.endpoints.tables.find((name) => name.includes('topology')) ?? '';
    const release = {
      ...runningGroups(bare.groups.groups),
      datastore,
      topologyTable: { client, table },
      steps: CONTROL_STEPS.length - 1,
    };
    held = await leaveRelease(release);
    before = await contentsOf(release);
  } finally {
    client.destroy();
    await bare.stop();
  }
}

async function contentsNow(): Promise<Contents> {
  if (!datastore) throw new Error('wanted a datastore');
  const { groups, connect } = runningGroups(stack.groups.groups);
  // Where its shards were: a group that was added later has none of them.
  return contentsOf({ groups: groups.slice(0, 3), connect, datastore });
}

const trips = () => schemalessClient({ url: stack.url, datastore: 'trips' });
const addedIds = async (): Promise<readonly (readonly number[])[]> =>
  (await trips().log(ALL.map((shard) => ({ shard, after: 0 })))).map((log) =>
    log.error ? [] : log.cells.map(({ added_id }) => added_id),
  );
const upTo = (head: number): readonly (readonly number[])[] =>
  ALL.map(() => Array.from({ length: head }, (_, position) => position + 1));

/** What an index answers for one value of its first field: row key and fare of each row. */
async function found(index: string, field: string, value: string | number): Promise<readonly string[]> {
  const { entries } = await trips().query({ index, where: [{ field, operator: 'eq', values: [value] }], limit: 1000 });
  return entries.map(({ row_key, fields }) => `${row_key} ${String(fields['fare'])}`).sort();
}
const wanted = (
  cells: readonly PlacedCell[],
  is: (fields: { city: string; fare: number }) => boolean,
): readonly string[] =>
  latestBases(cells)
    .filter((cell) => is(fieldsOf(cell)))
    .map((cell) => `${cell.row_key} ${fieldsOf(cell).fare}`)
    .sort();

// Takes minutes of servers, and nothing of it is another over the Data API.
describe.skipIf(WRITER_ONLY)('an upgrade', () => {
  beforeAll(async () => {
    // Here, since what is skipped would not dispose of it.
    folder = temporaryFolder();
    await leavePreviousRelease();
    stack = await start();
  });
  afterAll(async () => {
    await stack?.stop();
    folder?.[Symbol.dispose]();
  });

  describe('a stack on what the release before left', () => {
    it('reads every cell as it was', async () => {
      expect(held.stored).toHaveLength(SHARDS * STORED_A_SHARD);
      expect(await trips().batchGet(held.stored)).toMatchObject(held.stored);
    });

    it('appends what was only buffered, behind what was there, and keeps no copy of it', async () => {
      await expect
        .poll(
          async () =>
            (await trips().buffer()).map((group) =>
              group.error ? group.error.code : [group.rows, group.parked, group.conflicts],
            ),
          SOON,
        )
        .toEqual([
          [0, 0, 0],
          [0, 0, 0],
          [0, 0, 0],
        ]);
      expect(await trips().batchGet(held.waiting)).toMatchObject(
        held.waiting.map((cell) => ({ ...cell, added_id: STORED_A_SHARD + 1 })),
      );
    });

    it('goes on numbering without a hole', async () => {
      const cells = ALL.flatMap((shard) => rowsOfShard(shard, SHARDS, 2)).map((row_key) => cellOf({ row_key }));
      expect((await trips().batchPut(cells)).map(({ outcome }) => outcome)).toEqual(cells.map(() => 'stored'));
      expect(await addedIds()).toEqual(upTo(STORED_A_SHARD + 3));
    });

    it('finds rows by the index, those that waited too', async () => {
      const all = [...held.stored, ...held.waiting];
      for (const city of ['Lisbon', 'Porto', 'Faro']) {
        await expect
          .poll(() => found('city_index', 'city', city), SOON)
          .toEqual(wanted(all, (fields) => fields.city === city));
      }
    });

    it('has touched nothing that was there', async () => {
      expect(await contentsNow()).toEqual(before);
    });
  });

  describe('a second deployment, with a group, a datastore, an index and a trigger more', () => {
    let heads: unknown;

    beforeAll(async () => {
      heads = await trips().heads();
      await stack.stop();
      const later = join(folder.path, 'datastores');
      cpSync(first, later, { recursive: true });
      writeFiles(later, LATER);
      stack = await start({ groups: 4, datastores: later });
    });

    it('leaves shards and cells where they were', async () => {
      expect(await trips().heads()).toEqual(heads);
      expect(await contentsNow()).toEqual(before);
      expect(await trips().batchGet(held.stored)).toMatchObject(held.stored);
    });

    it('spreads the datastore over all groups, the added one too', async () => {
      const smoke = schemalessClient({ url: stack.url, datastore: 'smoke' });
      expect((await smoke.heads()).map(({ group }) => group)).toEqual(
        Array.from({ length: 8 }, (_, shard) => `group-${(shard % 4) + 1}`),
      );
      expect((await smoke.put(cellOf({ row_key: rowsOfShard(3, 8, 1)[0] ?? '' }))).outcome).toBe('stored');
    });

    it('lets the added group keep copies of writes to shards that were there before', async () => {
      const copies = async (): Promise<number> => {
        await trips().batchPut(
          ALL.flatMap((shard) => rowsOfShard(shard, SHARDS, 1)).map((row_key) => cellOf({ row_key })),
        );
        return (await trips().buffer()).reduce(
          (sum, group) => sum + (group.group === 'group-4' && !group.error ? group.rows : 0),
          0,
        );
      };
      await expect.poll(copies, SOON).toBeGreaterThan(0);
    });

    it('builds the index from the cells that were there', async () => {
      // Answered 503 until it is complete.
      await expect
        .poll(() => found('fare_index', 'fare', 21).catch(String), SOON)
        .toEqual(wanted(held.stored, ({ fare }) => fare === 21));
      expect(await found('fare_index', 'fare', 30)).toEqual(wanted(held.waiting, () => true));
      expect(await found('fare_index', 'fare', 20)).toEqual([]);
    });

    it('sends the cells that were there to the trigger', async () => {
      const queue = stack.queues().find(({ name }) => name.includes('tripselsewherequeue'));
      const client = sqsClient(stack.endpoints.sqs);
      onTestFinished(() => client.destroy());
      const stored = async (): Promise<number> => (await addedIds()).flat().length;
      // Of all cells, one of each shard is a STATUS.
      await expect
        .poll(async () => (await queueAt(client, queue?.url ?? '').count()).visible - (await stored()), SOON)
        .toBe(-SHARDS);
    });
  });
});
