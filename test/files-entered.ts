/**
 * `npm run files-entered`: the files of the project that a request enters, from the handler to the statement, and where
 * their table in `infra/docs/architecture.md` says otherwise.
 *
 * Serves requests through the functions' own handlers, in this process and over real servers, and asks V8 which
 * functions were called between a request and its answer. What is loaded, opened or looked up once has been by then. A
 * kind of request is asked several times, and what was called most of the times counts, but for what is called while
 * nothing is asked, too: that is the work of timers.
 */
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startSecretsManager } from '../infra/local/emulators/secrets-manager.ts';
import { startShardGroups } from '../infra/local/mysql/shard-groups.ts';
import { wishedEngine } from '../infra/setup/engine.mjs';
import { migrate } from '../shared/migrate/migrate.ts';
import { NO_ROOT_KEY } from '../shared/environment.ts';
import { shardOf } from '../shared/address.ts';
import { mysqlClient } from '../shared/sql/mysql-client.ts';
import { dynamoClient, newTable, startDynamo } from './support/dynamo.ts';

/** How often each kind is asked before it counts, and then. */
const [WARM, TIMES] = [5, 10];
/** How long nothing is asked. */
const REST_MS = 1000;
/** Of the project, what serves requests. */
const ROOT = pathToFileURL(join(import.meta.dirname, '../')).href;
const SERVING = ['functions/', 'shared/'];
const PAGE = join(import.meta.dirname, '../infra/docs/architecture.md');

const CITY = { field: 'city', type: 'string', column_key: 'BASE' } as const;
const TRIPS = {
  name: 'trips',
  shards: 16,
  indexes: [{ name: 'city_index', fields: [CITY, { ...CITY, field: 'status' }], keys: [] }],
};

/** Loaded once the environment is there, which they read. */
const HANDLERS = {
  'write-cells': () => import('../functions/write-cells.ts'),
  'read-cells': () => import('../functions/read-cells.ts'),
  'query-index': () => import('../functions/query-index.ts'),
} as const;

interface Asked {
  readonly handler: keyof typeof HANDLERS;
  readonly route: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: string;
}

/** Each kind, made anew each time; `row` is one that was written. */
const KINDS: Readonly<Record<string, (row: string) => Asked>> = {
  'put of an indexed cell': () => put(randomUUID()),
  'get latest': (row_key) => ({
    handler: 'read-cells',
    route: 'GET /v1/{datastore}/cells/{row_key}/{column_name}',
    path: { row_key, column_name: 'BASE' },
  }),
  'index query': () => ({
    handler: 'query-index',
    route: 'GET /v1/{datastore}/indexes/{index}',
    path: { index: 'city_index' },
    query: 'city=Lisbon&status=open',
  }),
  'log read': (row) => ({
    handler: 'read-cells',
    route: 'GET /v1/{datastore}/shards/{shard}/cells',
    path: { shard: String(shardOf(row, TRIPS.shards)) },
    query: 'after=0',
  }),
};

function put(row_key: string): Asked {
  return {
    handler: 'write-cells',
    route: 'PUT /v1/{datastore}/cells/{row_key}/{column_name}/{ref_key}',
    path: { row_key, column_name: 'BASE', ref_key: '1' },
    body: JSON.stringify({
      city: 'Lisbon',
      status: 'open',
      note: 'a body that is long enough to be compressed '.repeat(3),
    }),
  };
}

/** Asks a handler as the gateway does. Throws where it does not answer what was asked for. */
async function ask({ handler, route, path, query = '', body }: Asked): Promise<void> {
  const { handler: answer } = await HANDLERS[handler]();
  const [method = ''] = route.split(' ');
  const event = {
    routeKey: route,
    rawPath: route,
    rawQueryString: query,
    headers: { accept: 'application/json' },
    pathParameters: { datastore: TRIPS.name, ...path },
    requestContext: { requestId: randomUUID(), http: { method, path: route } },
    isBase64Encoded: false,
    ...(body !== undefined && { body }),
  } as unknown as APIGatewayProxyEventV2;
  const lambda = { getRemainingTimeInMillis: () => 10_000 } as Context;
  const { statusCode, body: text } = await answer(event, lambda);
  if (statusCode !== 200 && statusCode !== 201)
    throw new Error(`${route}: wanted 200 or 201, got ${statusCode} ${text}`);
}

/** The functions of the project that were called since it was asked last, each as its file and its place in it. */
async function called(session: Session): Promise<ReadonlySet<string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ours = result.filter(({ url }) => SERVING.some((folder) => url.startsWith(`${ROOT}${folder}`)));
  return new Set(
    ours.flatMap(({ url, functions }) =>
      functions
        .flatMap(({ ranges: [whole] }) =>
          whole && whole.count > 0 && whole.startOffset > 0 ? [whole.startOffset] : [],
        )
        .map((position) => `${url.slice(ROOT.length)} ${position}`),
    ),
  );
}

async function filesEntered(session: Session, make: () => Asked): Promise<readonly string[]> {
  for (let time = 0; time < WARM; time += 1) await ask(make());
  await called(session);
  await sleep(REST_MS);
  const ofTimers = await called(session);
  const times = new Map<string, number>();
  for (let time = 0; time < TIMES; time += 1) {
    const asked = make();
    await called(session);
    await ask(asked);
    for (const one of await called(session)) times.set(one, (times.get(one) ?? 0) + 1);
  }
  const most = [...times].filter(([one, count]) => count > TIMES / 2 && !ofTimers.has(one));
  return [...new Set(most.map(([one]) => one.split(' ')[0] ?? ''))].sort();
}

/** What the table says of each kind, in the order of its columns. */
function filesOfTable(kinds: number): readonly (readonly string[])[] {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `([\w./-]+\.ts)` \|([ ●|]+)\| [^|]+ \|$/gmu);
  const files = [...rows].map(([, file = '', marks = '']) => ({ file, marks: marks.split('|') }));
  return Array.from({ length: kinds }, (_, kind) =>
    files.flatMap(({ file, marks }) => (marks[kind]?.includes('●') ? [file] : [])),
  );
}

/** Prints the files of a kind. Returns whether the table says the same. */
function tell(kind: string, files: readonly string[], ofTable: readonly string[]): boolean {
  const few = files.filter((file) => file.startsWith('functions/')).length;
  console.log(`\n${kind}: ${files.length} files, ${few} of functions/, ${files.length - few} of shared/`);
  for (const file of files) console.log(`  ${file}`);
  const [entered, said] = [new Set(files), new Set(ofTable)];
  for (const file of entered.difference(said)) console.log(`  not in the table: ${file}`);
  for (const file of said.difference(entered)) console.log(`  in the table alone: ${file}`);
  return entered.symmetricDifference(said).size === 0;
}

/** Starts servers with a datastore on them, and has the environment of this process lead to them. */
async function start(folder: string): Promise<() => Promise<void>> {
  const servers = await startShardGroups({
    dataDir: folder,
    engine: wishedEngine([], process.env),
    groups: ['group-1', 'group-2', 'group-3'].map((name) => ({ name, readers: 1 })),
    restartAfterSeconds: 0,
    shards: TRIPS.shards,
    log: () => undefined,
  });
  const [dynamo, secrets] = [await startDynamo(), await startSecretsManager()];
  const client = dynamoClient(dynamo.url);
  const [topologyTable, stateTable, keysTable] = [
    await newTable(client),
    await newTable(client),
    await newTable(client),
  ];
  const logins = new Map(servers.groups.map(({ name, user, password }) => [name, { username: user, password }]));
  secrets.setSecrets(new Map([...logins].map(([name, login]) => [name, JSON.stringify(login)])));
  const groups = servers.groups.map(({ name, writerEndpoint, readerEndpoint, instanceEndpoints }) => ({
    name,
    writer: { host: writerEndpoint.host, port: writerEndpoint.port },
    reader: { host: readerEndpoint.host, port: readerEndpoint.port },
    nodes: instanceEndpoints.map(({ host, port }) => ({ host, port })),
    clusterArn: '',
    secret: name,
    sharedStorage: false,
  }));
  await migrate({
    topologyTable,
    connect: (group) => mysqlClient(group, async () => logins.get(group.name) ?? { username: '', password: '' }),
    wish: { groups, datastores: [TRIPS] },
    bufferCopies: 1,
    mayGoOn: () => true,
  });
  Object.assign(process.env, {
    SCHEMALESS_ENVIRONMENT: 'local',
    SCHEMALESS_TOPOLOGY_TABLE: topologyTable.table,
    SCHEMALESS_STATE_TABLE: stateTable.table,
    SCHEMALESS_KEYS_TABLE: keysTable.table,
    SCHEMALESS_ROOT_SECRET: NO_ROOT_KEY,
    SCHEMALESS_BUFFER_COPIES: '1',
    SCHEMALESS_ACCESS: 'mysql',
    SCHEMALESS_DATABASE_USER: 'owner',
    SCHEMALESS_DATABASE_AUTH: 'secret',
    SCHEMALESS_CONNECTIONS: '3',
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
  });
  return async () => void (await Promise.all([servers.stop(), dynamo.stop(), secrets.close()]));
}

const folder = mkdtempSync(join(tmpdir(), 'schemaless-files-'));
const stop = await start(folder);
let isSame = true;
try {
  const row = randomUUID();
  await ask(put(row));
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const kinds = Object.entries(KINDS);
  const table = filesOfTable(kinds.length);
  for (const [position, [kind, make]] of kinds.entries()) {
    const files = await filesEntered(session, () => make(row));
    isSame = tell(kind, files, table[position] ?? []) && isSame;
  }
} finally {
  await stop();
  rmSync(folder, { recursive: true, force: true });
}
// What the handlers have opened stays open as long as an instance lives.
process.exit(isSame ? 0 : 1);
