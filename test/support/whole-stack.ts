import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { beforeAll, inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { Endpoints } from '../../infra/local/running/endpoints.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { listen } from './listen.ts';
import { refusalsIn } from './local-stack.ts';
import { AT_ONCE } from './side-by-side.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that starts the run's stack, once, and answers with a `WholeStack`. */
    wholeStack: string;
  }
}

/** Ends what hangs. */
const START_MS = 600_000;
/** Folders of the datastores: each file of tests writes to its own, and no file to those of another. */
const DATASTORES = [
  'infra/datastores',
  'infra/examples/hotel-rates/datastores',
  'infra/examples/migrate-a-table/datastores',
  'infra/examples/web-shop/datastores',
  'test/support/files/datastores',
  'test/support/whole-stack-datastores',
];

/** One stack of three groups with a reader each, for every file of a run that needs no other. */
export interface WholeStack {
  readonly url: string;
  readonly endpoints: Endpoints;
  readonly functionLog: string;
}

/** Offers a whole stack to the run: it starts when the first file asks for it, and stops after the last. */
export default async function offer(project: TestProject): Promise<() => Promise<void>> {
  const { engine, access } = project.getProvidedContext().servers;
  const folder = mkdtempSync(join(tmpdir(), 'whole-stack-'));
  const datastores = allDatastores(join(folder, 'datastores'));
  let starting: Promise<LocalStack> | undefined;
  const server = createServer((_request, response) => {
    starting ??= startLocalStack({
      port: 0,
      data: join(folder, 'data'),
      groups: 3,
      shards: 16,
      datastores,
      concurrency: AT_ONCE,
      engine: engine.kind,
      access,
    });
    starting.then(
      ({ url, endpoints, functionLog }) =>
        response.end(JSON.stringify({ url, endpoints, functionLog } satisfies WholeStack)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  project.provide('wholeStack', await listen(server));
  return async () => {
    server.close();
    // The file that asked failed with the reason.
    const stack = await starting?.catch(() => undefined);
    const refused = stack ? refusalsIn(stack.functionLog) : [];
    await stack?.stop();
    rmSync(folder, { recursive: true, force: true });
    if (refused.length > 0) throw new Error(refused.join('\n'));
  };
}

/** Puts the datastores into one folder; `cli` has the indexes of `trips`. */
function allDatastores(into: string): string {
  for (const one of DATASTORES) cpSync(join(PROJECT_ROOT, one), into, { recursive: true });
  cpSync(join(into, 'trips/indexes'), join(into, 'cli/indexes'), { recursive: true });
  for (const path of globSync(join(into, 'cli/indexes/*.yaml')))
    writeFileSync(path, readFileSync(path, 'utf8').replace('datastore: trips', 'datastore: cli'));
  return into;
}

/** Returns the run's whole stack for the tests of a file. */
export function wholeStack(): () => WholeStack {
  let stack: WholeStack | undefined;
  beforeAll(async () => {
    const answer = await fetch(inject('wholeStack'));
    if (!answer.ok) throw new Error(await answer.text());
    stack = (await answer.json()) as WholeStack;
  }, START_MS);
  return () => {
    if (stack === undefined) throw new Error('the stack is not there before the tests begin');
    return stack;
  };
}

export async function askWriter({ endpoints }: WholeStack, group: string, sql: string): Promise<readonly object[]> {
  const found = endpoints.groups.find(({ name }) => name === group);
  if (!found) throw new Error(`no group ${group}`);
  const { host, port, user, password } = found.writer;
  const connection = await createConnection({ host, port, user, password });
  try {
    const [rows] = await connection.query(sql);
    return rows as object[];
  } finally {
    await connection.end();
  }
}
