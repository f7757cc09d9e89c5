import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { applyFolder } from '../../infra/cli/commands/apply.ts';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { Endpoints } from '../../infra/local/stack/endpoints.ts';
import type { LocalStack } from '../../infra/local/stack/running-stack.ts';
import { definitionsClient } from '../../shared/client/definitions-client.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { listen } from './listen.ts';
import { refusalsIn } from './local-stack.ts';
import { until } from './until.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that starts the run's stack, once, and answers with a `WholeStack`. */
    wholeStack: string;
  }
}

/** Ends what hangs. */
const LONG = { patienceMs: 600_000 };

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
  let starting: Promise<LocalStack> | undefined;
  const server = createServer((_request, response) => {
    starting ??= startLocalStack({ port: 0, data: folder, groups: 3, shards: 64, engine: engine.kind, access });
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

/**
 * Returns the run's whole stack for the tests of a file. It has the datastores of `infra/datastores`, and those that the
 * file brings, which no other file may define.
 *
 * @param datastores folder of YAML, read after the hooks before this one. @default the file brings none
 */
export function wholeStack(datastores?: string): () => WholeStack {
  let stack: WholeStack | undefined;
  beforeAll(async () => {
    const answer = await fetch(inject('wholeStack'));
    if (!answer.ok) throw new Error(await answer.text());
    stack = (await answer.json()) as WholeStack;
    const { url } = stack;
    // A busy machine may need longer than a request may take; what is made by then stays.
    const isApplied = (folder: string): Promise<boolean> =>
      applyFolder(definitionsClient({ url }), folder).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof SchemalessError) || error.code === 'invalid_definition') throw error;
          return false;
        },
      );
    if (datastores !== undefined) await until('its datastores are made', () => isApplied(datastores), LONG);
  }, LONG.patienceMs);
  afterAll(() => {
    stack = undefined;
  });
  return () => {
    if (stack === undefined) throw new Error('the stack is not there before the tests begin');
    return stack;
  };
}

/** Runs a statement on the writer of a group. */
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
