import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { localSigner } from '../../infra/local/login/clients.ts';
import { prove } from '../../infra/local/stack/proof.ts';
import type { NewCell } from '../../shared/cell.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { fakeDeployment } from '../functions/support/fake-deployment.ts';
import { serveGateway } from '../functions/support/gateway.ts';
import { temporaryFolder } from '../infra/support/temporary-folder.ts';
import { localStack } from '../support/local-stack.ts';

const folder = temporaryFolder();
const data = join(folder.path, 'data');
const warehouse = join(folder.path, 'warehouse');
/** The second deployment, in memory, behind the same HTTP API. */
const copy = fakeDeployment();
const consumers: { readonly process: ChildProcess; readonly output: string[] }[] = [];
const stack = localStack(folder, { datastores: join(PROJECT_ROOT, 'test/examples/feeds') });
let server: Awaited<ReturnType<typeof serveGateway>>;

beforeAll(async () => {
  server = await serveGateway(copy);
});

afterAll(async () => {
  for (const { process } of consumers) process.kill('SIGTERM');
  await Promise.all(
    consumers.map(({ process }) => process.exitCode ?? new Promise((resolve) => process.once('exit', resolve))),
  );
  server.close();
});

/** Runs a function in its own process, as `infra/docs/triggers.md` says. */
function consume(file: string, variables: Readonly<Record<string, string>>): void {
  const child = spawn(process.execPath, ['infra/local/commands/consume.ts', file, '--data', data], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  consumers.push({ process: child, output });
}

interface Line extends NewCell {
  readonly shard: number;
  readonly added_id: number;
}

function linesOfWarehouse(): readonly Line[] {
  const files = readdirSync(folder.path).includes('warehouse') ? readdirSync(warehouse) : [];
  return files
    .flatMap((file) => readFileSync(join(warehouse, file), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as Line);
}

test('a stack without the datastore smoke proves itself without a write', async () => {
  expect(await prove({ url: stack().url, datastores: ['trips'], readers: false, sign: localSigner() })).toEqual([
    expect.stringMatching(/^looked where the logs of trips end, on every group's writer, [\d.]+ ms$/u),
  ]);
  const heads = await schemalessClient({ url: stack().url, datastore: 'trips' }).heads();
  expect(heads.map((head) => ('head' in head ? head.head : head.error))).toEqual([0, 0, 0, 0]);
});

test(
  'every cell reaches the warehouse and the second deployment, each by a trigger of its own',
  { timeout: 180_000 },
  async () => {
    const trips = schemalessClient({ url: stack().url, datastore: 'trips' });
    const cells = Array.from({ length: 60 }, (_, n): NewCell => ({
      row_key: randomUUID(),
      column_name: n % 3 === 0 ? 'NOTES' : 'BASE',
      ref_key: n,
      body: { n },
    }));
    // Some before the consumers are there, some while they work.
    await trips.batchPut(cells.slice(0, 30));
    consume('functions/examples/feed-warehouse.ts', { WAREHOUSE_FOLDER: warehouse });
    consume('functions/examples/copy-cells.ts', { COPY_TO_URL: server.url });
    await trips.batchPut(cells.slice(30));

    const output = (): string => consumers.map((consumer) => consumer.output.join('')).join('\n');
    const distinct = (): number =>
      new Set(linesOfWarehouse().map(({ shard, added_id }) => `${shard}/${added_id}`)).size;
    await expect.poll(distinct, { timeout: 120_000, interval: 500, message: output() }).toBe(cells.length);
    const lines = linesOfWarehouse();
    for (const cell of cells) expect(lines).toContainEqual(expect.objectContaining(cell));
    for (const inShard of Map.groupBy(lines, ({ shard }) => shard).values()) {
      // In the log's order, without repeats.
      const firstSeen = [...new Set(inShard.map(({ added_id }) => added_id))];
      expect(firstSeen).toEqual(firstSeen.toSorted((a, b) => a - b));
    }

    const copied = async (): Promise<number> =>
      (await copy.trips.batchGet(cells)).filter((item) => item !== null && 'body' in item).length;
    await expect.poll(copied, { timeout: 120_000, interval: 500, message: output() }).toBe(cells.length);
    for (const cell of cells) expect((await copy.trips.get(cell)).cell).toMatchObject(cell);
  },
);
