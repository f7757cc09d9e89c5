import { sqsEvent } from '../../../infra/local/event-sources/poll-queue.ts';
import { instanceEnvironment, type FunctionDefinition } from '../../../infra/local/lambda/function-definition.ts';
import { functionPool } from '../../../infra/local/lambda/function-pool.ts';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { apiClient } from '../../../shared/client/api-client.ts';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { encodeMessage, toMessage } from '../../../shared/triggers/state/queue-message.ts';
import { baseBody } from '../../support/trips/body.ts';
import { tripRowKey } from '../../support/trips/trip.ts';

/** A function that is called as it is in a deployment, with a call that ends by itself. */
interface Callable {
  readonly title: string;
  /** Ends its instances: the next call starts a new one. */
  kill(): Promise<void>;
  call(): Promise<unknown>;
}

/**
 * Returns the functions that a caller waits for: those of the API, called over HTTP, and those of triggers, called with
 * a message. Scheduled functions loop for minutes and answer no caller; a migration runs once in a deployment.
 */
export async function callables(stack: LocalStack, seed: string): Promise<readonly Callable[]> {
  const { fare: _fare, ...trip } = baseBody(seed, 0, 'usual');
  // Without a fare nothing is charged, so that every call does the same.
  const base: NewCell = { row_key: tripRowKey(seed, 0), column_name: 'BASE', ref_key: 1, body: trip };
  const trips = schemalessClient({ url: stack.url, datastore: 'trips' });
  const api = apiClient({ url: stack.url, datastore: 'trips' });
  const drivers = [String(trip['driver_partner_uuid'])];
  // A column without triggers.
  const note: NewCell = {
    ...base,
    column_name: 'NOTES',
    body: { author: 'rider', rating: 5, text: '', tags: ['clean car'] },
  };
  let notes = 0;
  const ofRoute = (title: string, call: () => Promise<unknown>): Callable => ({
    title,
    kill: () => stack.killFunction(title),
    call,
  });
  return [
    ofRoute('write-cells', async () => {
      notes += 1;
      const { outcome } = await trips.put({ ...note, ref_key: notes });
      if (outcome !== 'stored') throw new Error(`a put was answered ${outcome}`);
    }),
    ofRoute('read-cells', () => trips.getLatest(base)),
    ofRoute('query-index', () =>
      trips.query({
        index: 'driver_partner_index',
        where: { driver_partner_uuid: drivers[0] ?? '' },
      }),
    ),
    ofRoute('manage-triggers', () => api.listTriggers()),
    ofRoute('manage-moves', () => api.listMoves()),
    ofRoute('erase-cells', () => api.listErasures()),
    await ofTrigger(stack, 'bill_rider', { client: trips, cell: base }),
    await ofTrigger(stack, 'echo', {
      client: schemalessClient({ url: stack.url, datastore: 'smoke' }),
      cell: { ...base, column_name: 'CALL' },
    }),
  ];
}

/** Returns a callable that does nothing: it costs a process and Node. */
export function emptyCallable(module: string): Callable {
  const title = 'an empty function';
  const definition: FunctionDefinition = {
    name: 'empty',
    title,
    arn: 'empty',
    module,
    exportName: 'handler',
    environment: {},
    roleArn: 'empty',
    timeoutMs: 3000,
    memoryMb: 512,
  };
  const pool = functionPool({
    definition,
    mode: 'process',
    environment: instanceEnvironment(definition, {}),
    atOnce: 1,
    idleMs: 0,
    onOutput: () => {},
  });
  return { title, kill: () => pool.kill(), call: () => pool.invoke('{}') };
}

async function ofTrigger(
  stack: LocalStack,
  trigger: string,
  { client, cell }: { readonly client: SchemalessClient; readonly cell: NewCell },
): Promise<Callable> {
  const title = `trigger-${client.name}-${trigger}`;
  const functions = stack.functions.status();
  const { arn } = functions.find((one) => one.title === title) ?? {};
  if (arn === undefined)
    throw new Error(`wanted a function ${title}, got ${functions.map((one) => one.title).join(', ')}`);
  const { outcome } = await client.put(cell);
  const { cell: stored } = await client.get(cell);
  if (!stored) throw new Error(`a put was answered ${outcome}`);
  const message = toMessage({ ...stored, generation: 0, fingerprint: '' }, { datastore: client.name, trigger }, 0);
  const event = sqsEvent(
    [
      {
        MessageId: 'first-call',
        ReceiptHandle: 'none',
        Body: encodeMessage(message),
        Attributes: {
          MessageGroupId: String(message.shard),
          ApproximateReceiveCount: '1',
          SentTimestamp: String(Date.now()),
        },
      },
    ],
    arn,
  );
  return {
    title,
    kill: () => stack.killFunction(title),
    call: () => stack.functions.invoke(arn, JSON.stringify(event)),
  };
}
