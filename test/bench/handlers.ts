import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { HttpHandler } from '../../functions/http/handler.ts';
import { makeQueryHandler } from '../../functions/query-index.ts';
import { makeReadHandler } from '../../functions/read-cells.ts';
import { makeWriteHandler } from '../../functions/write-cells.ts';
import { OPERATIONS, type OperationName } from '../../shared/api/operations.ts';
import { parametersIn } from '../../shared/api/path.ts';
import type { Deployment } from '../../shared/store/deployment.ts';
import { operatorsClient } from '../support/operators-client.ts';
import { DATASTORE } from '../support/store-access.ts';
import type { Bench, BenchWorld, Findings, Measured } from './bench.ts';
import { openLibrary } from './http/open-library.ts';
import { anyOf, prepareOperations } from './http/operations.ts';
import { startStack } from './http/start-stack.ts';
import { rowsOn } from './rows.ts';
import { median } from './side-by-side.ts';

const [WARM_UP, CALLS, ROUNDS, AT_ONCE] = [4000, 1500, 5, 8];
const TRANSACTION = 'transaction of 5 cells';
/** The most that a transaction of five cells may cost, in puts. */
const MOST_PUTS = 2;
const NOTE = JSON.stringify({ author: 'rider', rating: 5, text: '', tags: ['clean car'] });
const OF_FIVE = [1, 2, 3, 4, 5].map((ref_key) => `{"column_name":"NOTES","ref_key":${ref_key},"body":${NOTE}}`);

interface Asked {
  readonly what: string;
  readonly handler: HttpHandler;
  readonly operation: OperationName;
  /** Below the datastore. */
  readonly path: () => string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: () => string;
}

export const handlersBench: Bench = {
  name: 'handlers',
  what: "processor time of a request in the API's functions, without the gateway and MySQL",
  limitMinutes: 6,

  async measure(world: BenchWorld): Promise<Findings> {
    await using parts = new AsyncDisposableStack();
    const { stack, engine } = parts.use(await startStack(world));
    // Billing would take turns with what is measured.
    const client = operatorsClient({ url: stack.url, datastore: DATASTORE });
    await client.pauseTrigger({ trigger: 'bill_rider', reason: 'a measurement' });
    const { datastore } = parts.use(await openLibrary(stack));
    const { trips } = await prepareOperations(datastore, world.seed);
    const deployment = (): Deployment => ({ datastore: async () => datastore }) as unknown as Deployment;
    const [write, read, query] = [
      makeWriteHandler(deployment),
      makeReadHandler(deployment),
      makeQueryHandler(deployment),
    ];
    const driver = String(Object(trips.written[0]?.body)['driver_partner_uuid']);
    const asked: readonly Asked[] = [
      {
        what: 'put',
        handler: write,
        operation: 'putCell',
        path: () => `cells/${randomUUID()}/NOTES/1`,
        body: () => NOTE,
      },
      {
        what: 'put with three indexes',
        handler: write,
        operation: 'putCell',
        path: () => `cells/${randomUUID()}/BASE/1`,
        body: () => JSON.stringify(trips.next().body),
      },
      {
        what: TRANSACTION,
        handler: write,
        operation: 'transactRow',
        path: () => `rows/${randomUUID()}/transactions`,
        body: () => `{"cells":[${OF_FIVE.join(',')}]}`,
      },
      {
        what: 'get latest',
        handler: read,
        operation: 'getLatestCell',
        path: () => `cells/${anyOf(trips.written).row_key}/BASE`,
      },
      {
        what: 'query of 50 rows',
        handler: query,
        operation: 'queryIndex',
        path: () => 'indexes/driver_partner_index',
        query: { driver_partner_uuid: driver, limit: '50' },
      },
    ];
    const row = rowsOn(engine);
    using _quiet = withoutMetrics();
    const measured: Measured[] = [];
    const medians = new Map<string, number>();
    for (const one of asked) {
      await callAll(one, WARM_UP);
      const micros: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        world.signal.throwIfAborted();
        const before = process.cpuUsage();
        await callAll(one, CALLS);
        const { user, system } = process.cpuUsage(before);
        micros.push((user + system) / CALLS);
      }
      const range = `${Math.min(...micros).toFixed(0)} to ${Math.max(...micros).toFixed(0)}`;
      medians.set(one.what, median(micros));
      measured.push(row(one.what, `${median(micros).toFixed(0)} us (${range})`));
    }
    const puts = (medians.get(TRANSACTION) ?? 0) / (medians.get('put') ?? 1);
    measured.push(row(`${TRANSACTION}, in puts`, puts.toFixed(2), `≤ ${MOST_PUTS}`, puts <= MOST_PUTS));
    return { measured };
  },
};

/** Drops the metrics that the functions print, a line for each request. */
function withoutMetrics(): Disposable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array, ...more: never[]) =>
    chunk.toString().startsWith('{"_aws"') || write(chunk, ...more);
  return {
    [Symbol.dispose]() {
      process.stdout.write = write;
    },
  };
}

async function callAll({ what, handler, operation, path, query, body }: Asked, times: number): Promise<void> {
  const { method, path: route } = OPERATIONS[operation];
  let left = times;
  const callSome = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const rawPath = `/v1/${DATASTORE}/${path()}`;
      const event = {
        version: '2.0',
        routeKey: `${method} ${route}`,
        rawPath,
        rawQueryString: new URLSearchParams(query).toString(),
        ...(query && { queryStringParameters: query }),
        headers: { 'content-type': 'application/json', host: 'api.example' },
        pathParameters: parametersIn(route, rawPath),
        requestContext: { requestId: randomUUID(), http: { method, path: rawPath } },
        isBase64Encoded: false,
        ...(body && { body: body() }),
      } as unknown as APIGatewayProxyEventV2;
      const context = { getRemainingTimeInMillis: () => 20_000 } as Context;
      const answer = await handler(event, context);
      if (answer.statusCode !== 200 && answer.statusCode !== 201)
        throw new Error(`${what}: wanted 200 or 201, got ${answer.statusCode}: ${answer.body}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, callSome));
}
