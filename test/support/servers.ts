import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { wishedEngine } from '../../infra/setup/engine.mjs';
import { startDataApi } from '../../infra/local/data-api/data-api.ts';
import { startShardGroups } from '../../infra/local/mysql/shard-groups.ts';
import { ACCESSES, type Access } from '../../shared/environment.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { endProcessesOn } from './leftovers.ts';
import { UNSAFE_FLUSHING } from './cluster.ts';
import { startDynamo } from './dynamo.ts';
import { wishedAws, type OutsideAws } from './outside-aws.ts';

/** The servers of a run, as its test files see them. */
export interface Servers {
  readonly engine: { readonly kind: 'mysql' | 'mariadb'; readonly version: string };
  readonly groups: readonly (GroupAddress & { readonly user: string; readonly password: string })[];
  /** URL of the run's DynamoDB. */
  readonly dynamo: string;
  /** SQS and DynamoDB that are not the run's own: `SCHEMALESS_AWS`. */
  readonly outsideAws: OutsideAws | undefined;
  /** URL of the RDS Data API over the groups' writers, by their names as ARNs: see `clusterOf`. */
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
 * Starts three groups of a writer and a reader, and a DynamoDB unless there is one, for the whole run; says what it
 * runs on.
 */
export default async function start(project: TestProject): Promise<() => Promise<void>> {
  // Left to end by itself, Node once went round for ever in taking down its environment, after every test and this
  // teardown.
  process.once('beforeExit', (code) => process.exit(code));
  const outsideAws = await wishedAws(process.env);
  const dataDir = await mkdtemp(join(tmpdir(), 'schemaless-test-'));
  endWith(dataDir);
  const groups = await startShardGroups({
    dataDir,
    engine: wishedEngine([], process.env),
    groups: GROUPS.map((name) => ({ name, readers: 1 })),
    restartAfterSeconds: 0,
    shards: 1024,
    // No test takes the power from these servers: fault runs have servers of their own, which flush each commit.
    extraArguments: UNSAFE_FLUSHING,
    log: () => undefined,
  });
  const dynamo = outsideAws ? undefined : await startDynamo();
  const dataApi = await startDataApi({
    login: (resourceArn) => {
      const group = groups.groups.find(({ name }) => clusterOf(name).resourceArn === resourceArn);
      if (!group) return undefined;
      const { user, password, writerEndpoint } = group;
      return { host: writerEndpoint.host, port: writerEndpoint.port, user, password };
    },
  });
  const access = wishedAccess();
  console.log(`Tested on ${groups.engine.kind} ${groups.engine.version}, reached over ${access}`);
  if (outsideAws)
    console.log(
      outsideAws.away === undefined
        ? `SQS at ${outsideAws.sqs}, DynamoDB at ${outsideAws.dynamodb}`
        : `Tests that talk to SQS or DynamoDB are skipped: ${outsideAws.away}`,
    );
  project.provide('servers', {
    engine: groups.engine,
    dynamo: outsideAws?.dynamodb ?? dynamo?.url ?? '',
    outsideAws,
    dataApi: dataApi.url,
    access,
    groups: groups.groups.map(({ name, user, password, writerEndpoint, readerEndpoint, instanceEndpoints }) => ({
      name,
      user,
      password,
      writer: { host: writerEndpoint.host, port: writerEndpoint.port },
      reader: { host: readerEndpoint.host, port: readerEndpoint.port },
      nodes: instanceEndpoints.map(({ host, port }) => ({ host, port })),
      clusterArn: clusterOf(name).resourceArn,
      secret: clusterOf(name).secretArn,
      sharedStorage: false,
    })),
  });
  return async () => {
    await dataApi.stop();
    await Promise.all([groups.stop(), dynamo?.stop()]);
  };
}

/**
 * Leaves neither a process nor a file behind, however the run ends: told to by a signal, Vitest exits without its
 * teardown, and its workers without the ends of their tests. Those have their folders within this one.
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

/** What the run's RDS Data API calls a group. */
export function clusterOf(group: string): { readonly resourceArn: string; readonly secretArn: string } {
  return {
    resourceArn: `arn:aws:rds:us-east-1:000000000000:cluster:${group}`,
    secretArn: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${group}`,
  };
}

function wishedAccess(): Access {
  const wish = process.env['SCHEMALESS_ACCESS'] ?? 'mysql';
  const access = ACCESSES.find((known) => known === wish);
  if (access) return access;
  throw new Error(`SCHEMALESS_ACCESS: wanted ${ACCESSES.join(' or ')}, got ${JSON.stringify(wish)}`);
}
