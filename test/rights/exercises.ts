import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { apiClient } from '../../shared/client/api-client.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { entityTable } from '../../shared/sql/names.ts';
import { MARK_RESTORED } from '../../shared/sql/statements/record-writer.ts';

export type Exercise = (stack: LocalStack) => Promise<unknown>;

const BASE = '/v1/trips';

async function ask(stack: LocalStack, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${stack.url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return response.json();
}

const putTrip = async (stack: LocalStack, row_key: string = randomUUID()): Promise<unknown> =>
  ask(stack, 'PUT', `${BASE}/cells/${row_key}/BASE/1`, {
    driver_partner_uuid: randomUUID(),
    rider_uuid: randomUUID(),
    city: 'Lisbon',
    status: 'completed',
    fare: 10,
  });

const DEFINED = {
  'tried/datastore.yaml': { datastore: 'tried', shards: 2 },
  'tried/indexes/by_name.yaml': {
    table: 'by_name',
    datastore: 'tried',
    column_defs: [{ column_key: 'BASE', fields: [{ field: 'name', type: 'string' }] }],
  },
  'tried/triggers/told.yaml': { trigger: 'told', datastore: 'tried', columns: ['BASE'] },
};

async function define(stack: LocalStack): Promise<void> {
  const api = apiClient({ url: stack.url, datastore: 'tried', retryBudget: false });
  for (let round = 0; round < 20 && !(await api.applyDefinitions({ files: DEFINED })).done; round += 1)
    await sleep(100);
  await ask(stack, 'PUT', '/v1/tried/cells/8fd2cd8e-56a4-4a30-a3b5-3ba4bca8c6bd/BASE/1', { name: 'a' });
  await ask(stack, 'GET', '/v1/tried/triggers/told');
  await ask(stack, 'GET', '/v1/tried/triggers/told/dead');
  await sleep(2000);
  await api.deleteTrigger({ trigger: 'told', confirm: 'told', force: true });
  await api.deleteIndex({ index: 'by_name', confirm: 'by_name' });
}

/** Moves a shard to another group and back. Refusals of a step that is not allowed yet do not matter here. */
async function move(stack: LocalStack): Promise<void> {
  const shard = 0;
  const trips = schemalessClient({ url: stack.url, datastore: 'trips', retryBudget: false });
  const api = apiClient({ url: stack.url, datastore: 'trips', retryBudget: false });
  const heads = await trips.heads();
  const from = heads.find((head) => head.shard === shard)?.group;
  const to = heads.find(({ group }) => group !== from)?.group;
  if (to === undefined) return;
  const steps = [
    () => api.listMoves(),
    () => api.getBuffer(),
    () => api.createMove({ shard, to, switch: true }),
    () => api.verifyMove({ shard }),
    () => api.reverseMove({ shard }),
    () => api.completeMove({ shard }),
    () => api.cancelMove({ shard }),
    () => api.getMove({ shard }),
  ];
  for (const step of steps) {
    await step().catch(() => undefined);
    await sleep(1000);
  }
}

/** Erases a row and looks it up. A call that fails for a missing right does not prevent the others. */
async function erase(stack: LocalStack): Promise<void> {
  const api = apiClient({ url: stack.url, datastore: 'trips', retryBudget: false });
  const row_key = randomUUID();
  await putTrip(stack, row_key);
  const erased = await api.eraseCells({ row_key, reason: 'tried' }).catch(() => undefined);
  await api.listErasures({ open: true }).catch(() => undefined);
  await api.listErasures().catch(() => undefined);
  await api.getErasure({ erasure: erased?.id ?? randomUUID() }).catch(() => undefined);
  await api.getRetention().catch(() => undefined);
}

const SEALED = {
  'sealed/datastore.yaml': {
    datastore: 'sealed',
    shards: 2,
    sealed: [{ column: 'BASE', subject: 'who', fields: ['mail'] }],
  },
  'sealed/indexes/by_mail.yaml': {
    table: 'by_mail',
    datastore: 'sealed',
    column_defs: [{ column_key: 'BASE', fields: [{ field: 'mail', type: 'string' }] }],
  },
};
const madeIn = new WeakSet<LocalStack>();

/** Sealed, read, found, forgotten, and signed for. */
async function seal(stack: LocalStack): Promise<void> {
  const api = apiClient({ url: stack.url, datastore: 'sealed', retryBudget: false });
  for (let round = 0; round < 20 && !madeIn.has(stack); round += 1)
    if ((await api.applyDefinitions({ files: SEALED })).done) madeIn.add(stack);
  const [row_key, who] = [randomUUID(), randomUUID()];
  await ask(stack, 'PUT', `/v1/sealed/cells/${row_key}/BASE/1`, { who, mail: 'a@example.org' });
  await ask(stack, 'GET', `/v1/sealed/cells/${row_key}/BASE`);
  await ask(stack, 'GET', '/v1/sealed/indexes/by_mail?mail=a@example.org&columns=BASE');
  await ask(stack, 'POST', '/v1/sealed/subjects/forget', { subject: who, reason: 'tried' });
  await ask(stack, 'GET', '/v1/sealed/erasures/subjects');
  await ask(stack, 'GET', '/v1/sealed/erasures/key');
}

/** One statement on the writers of groups, past the store. */
async function onWriters(
  { endpoints }: LocalStack,
  sql: string,
  isMeant: (group: string) => boolean = () => true,
): Promise<void> {
  for (const { name, writer } of endpoints.groups) {
    if (!isMeant(name)) continue;
    const { host, port, user, password } = writer;
    const connection = await createConnection({ host, port, user, password });
    await connection.query(sql).finally(() => connection.end());
  }
}

/** Groups as from a snapshot: their shards come to a new epoch once all is there that others hold copies of. */
const restored: Exercise = (stack) => onWriters(stack, MARK_RESTORED);

/** Changes the last cell of a followed log, as if the log was cut. */
async function cutLog(stack: LocalStack): Promise<void> {
  const { shard, added_id } = Object(await putTrip(stack)) as { readonly shard: number; readonly added_id: number };
  const trips = schemalessClient({ url: stack.url, datastore: 'trips', retryBudget: false });
  const group = (await trips.heads()).find((head) => head.shard === shard)?.group;
  await sleep(1500);
  const sql = `UPDATE ${entityTable('trips', shard)} SET created_at = created_at + INTERVAL 1 SECOND WHERE added_id = ${added_id}`;
  await onWriters(stack, sql, (name) => name === group);
}

/** Runs both in turn, even if the first one fails. */
const both =
  (one: Exercise, other: Exercise): Exercise =>
  async (stack) => {
    await one(stack).catch(() => undefined);
    await other(stack).catch(() => undefined);
  };

/** Calls a function as its schedule does. A call takes minutes; the next one starts after it ends or fails. */
function loop(title: string, event: object = {}, meanwhile: Exercise = define): Exercise {
  let isRunning = false;
  return async (stack) => {
    if (!isRunning) {
      isRunning = true;
      void stack.functions
        .invoke(arnOf(stack, title), JSON.stringify(event))
        .catch(() => undefined)
        .finally(() => (isRunning = false));
    }
    await meanwhile(stack).catch(() => undefined);
  };
}

/** The request of a deployment that changes nothing, as it was made last. */
const deploy =
  (title: string, folder: string): Exercise =>
  async (stack) => {
    const made = Object(JSON.parse(readFileSync(join(folder, 'custom-resources.json'), 'utf8'))) as Readonly<
      Record<string, { readonly physicalId: string; readonly properties: object }>
    >;
    for (const { physicalId, properties } of Object.values(made))
      await stack.functions
        .invoke(
          arnOf(stack, title),
          JSON.stringify({
            RequestType: 'Update',
            RequestId: randomUUID(),
            PhysicalResourceId: physicalId,
            ResourceProperties: properties,
            OldResourceProperties: properties,
          }),
        )
        .catch(() => undefined);
  };

function arnOf(stack: LocalStack, title: string): string {
  const found = stack.functions.status().find((one) => one.title === title);
  if (!found) throw new Error(`wanted a function ${title}`);
  return found.arn;
}

export function exercises(folder: string): Readonly<Record<string, Exercise>> {
  const trigger = `${BASE}/triggers/bill_rider`;
  return {
    'write-cells': both(putTrip, seal),
    'read-cells': both((stack) => ask(stack, 'GET', `${BASE}/cells/${randomUUID()}/BASE`), seal),
    'query-index': both((stack) => ask(stack, 'GET', `${BASE}/indexes/rider_index?rider_uuid=${randomUUID()}`), seal),
    'manage-triggers': async (stack) => {
      await ask(stack, 'GET', trigger);
      await ask(stack, 'GET', `${trigger}/parked`);
      await ask(stack, 'GET', `${trigger}/dead`);
      await ask(stack, 'POST', `${trigger}/dead/replay`, { all: true });
      await define(stack).catch(() => undefined);
    },
    'manage-moves': (stack) => move(stack).catch(() => undefined),
    'erase-cells': both(erase, seal),
    'define-datastores': (stack) => define(stack).catch(() => undefined),
    'drain-buffer': loop('drain-buffer', {}, restored),
    maintenance: loop('maintenance'),
    'move-shards': loop('move-shards', {}, move),
    'tail-shards': loop('tail-shards', { slot: 0 }, both(cutLog, define)),
    'trigger-smoke-echo': (stack) => ask(stack, 'PUT', `/v1/smoke/cells/${randomUUID()}/CALL/1`, { n: 1 }),
    'migration/onEvent': deploy('migration/onEvent', folder),
    'migration/isComplete': deploy('migration/isComplete', folder),
  };
}
