import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { clusterArn } from '../../infra/local/arn.ts';
import { requestedEngine } from '../../infra/setup/engine.mjs';
import { startDataApi } from '../../infra/local/data-api/data-api.ts';
import { startShardGroups } from '../../infra/local/mysql/shard-groups.ts';
import { ACCESSES, type Access } from '../../shared/environment.ts';
import { endProcessesOn } from './leftovers.ts';
import { throughEndpoints, UNSAFE_FLUSHING } from './cluster.ts';
import { startDynamo } from './dynamo.ts';
import type { GroupAccess } from './store-access.ts';
import { requestedAws, type OutsideAws } from './outside-aws.ts';

/** The servers of a run, as its test files see them. */
export interface Servers {
  readonly engine: { readonly kind: 'mysql' | 'mariadb'; readonly version: string };
  readonly groups: readonly GroupAccess[];
  /** URL of the run's DynamoDB. */
  readonly dynamo: string;
  /** SQS and DynamoDB that are not the run's own: `SCHEMALESS_AWS`. */
  readonly outsideAws: OutsideAws | undefined;
  /** URL of the RDS Data API over the groups' writers, by their names as ARNs: see `clusterArn`. */
  readonly dataApi: string;
  /** How stores reach their groups: `SCHEMALESS_ACCESS`. */
  readonly access: Access;
}

declare module 'vitest' {
  interface ProvidedContext {
    servers: Servers;
  }
}

const GROUPS = ['group-1', 'group-2', 'group-3'];

/**
 * Starts three groups of a writer and a reader, and a DynamoDB unless there is one, for the whole run. Prints what it
 * runs on.
 */
export default async function start(project: TestProject): Promise<() => Promise<void>> {
  // Without an explicit exit, Node once looped for ever while it took down its environment, after this teardown.
  process.once('beforeExit', (code) => process.exit(code));
  const outsideAws = await requestedAws(process.env);
  const dataDir = await mkdtemp(join(tmpdir(), 'schemaless-test-'));
  endWith(dataDir);
  const groups = await startShardGroups({
    dataDir,
    engine: requestedEngine([], process.env),
    groups: GROUPS.map((name) => ({ name, readers: 1 })),
    restartAfterSeconds: 0,
    shards: 1024,
    // No test cuts the power of these servers: fault runs have their own servers, which flush each commit.
    extraArguments: UNSAFE_FLUSHING,
    log: () => undefined,
  });
  const dynamo = outsideAws ? undefined : await startDynamo();
  const dataApi = await startDataApi({
    login: (resourceArn) => {
      const group = groups.groups.find(({ name }) => clusterArn(name) === resourceArn);
      if (!group) return undefined;
      const { user, password, writerEndpoint } = group;
      return { host: writerEndpoint.host, port: writerEndpoint.port, user, password };
    },
  });
  const access = requestedAccess();
  console.log(`Tested on ${groups.engine.kind} ${groups.engine.version}, reached over ${access}`);
  if (outsideAws)
    console.log(
      outsideAws.unavailable === undefined
        ? `SQS at ${outsideAws.sqs}, DynamoDB at ${outsideAws.dynamodb}`
        : `Tests that talk to SQS or DynamoDB are skipped: ${outsideAws.unavailable}`,
    );
  project.provide('servers', {
    engine: groups.engine,
    dynamo: outsideAws?.dynamodb ?? dynamo?.url ?? '',
    outsideAws,
    dataApi: dataApi.url,
    access,
    groups: throughEndpoints(groups),
  });
  return async () => {
    await dataApi.stop();
    await Promise.all([groups.stop(), dynamo?.stop()]);
  };
}

/**
 * Removes all processes and files, however the run ends. After a signal, Vitest exits without its teardown, and its
 * workers exit without the last hooks of their tests. The workers' folders are within this one.
 */
function endWith(folder: string): void {
  process.env['TMPDIR'] = folder;
  process.once('exit', () => {
    endProcessesOn(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  // One Ctrl-C may arrive twice, from the terminal and passed on by npm. The second would end this process before its
  // exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('SIGHUP', () => process.exit(129));
}

function requestedAccess(): Access {
  const desired = process.env['SCHEMALESS_ACCESS'] ?? 'mysql';
  const access = ACCESSES.find((known) => known === desired);
  if (access) return access;
  throw new Error(`SCHEMALESS_ACCESS: wanted ${ACCESSES.join(' or ')}, got ${JSON.stringify(desired)}`);
}
