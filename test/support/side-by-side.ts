import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadAssembly } from '../../infra/local/template/synthesize.ts';
import { addressesOf } from '../../infra/local/template/template.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import type { Sign } from '../../shared/client/sign-request.ts';
import { until } from './until.ts';

export const AT_ONCE = 64;

type Stack = Pick<LocalStack, 'url' | 'functionLog' | 'killFunction'>;

/** Method, end of the path, times that a body has the row, statuses: large cells, and requests that are refused. */
const ROUNDS = [
  ['PUT', 'NOTE/0', 300, [201, 200]],
  ['GET', 'NOTE/0', undefined, [200]],
  ['GET', 'NONE/0', undefined, [404]],
  ['PUT', 'NOTE/ROW', 1, [400]],
] as const;
/** Buffered, or not available: a busy machine answers so, and to a retry otherwise. */
const BUSY = [202, 503];
const RETRY_MS = 100;

/**
 * Sends rounds of 64 requests at once, each with an id, a trace and a row of its own. Returns a line for each answer,
 * log line or metric that has those of another.
 */
export async function mixedUp(stack: Stack, sign?: Sign): Promise<readonly string[]> {
  const rows = Array.from({ length: AT_ONCE }, () => randomUUID());
  const asked = new Map<string, readonly [traceparent: string, row: string]>();
  const mixed: string[] = [];
  const run = randomUUID();

  async function ask(round: (typeof ROUNDS)[number], row: string): Promise<void> {
    const [method, end, times, statuses] = round;
    const id = `${run}-${asked.size}`;
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
    asked.set(id, [traceparent, row]);
    const url = new URL(`${stack.url}/v1/smoke/cells/${row}/${end.replace('ROW', row)}`);
    const given = { 'x-request-id': id, traceparent };
    const body = times && JSON.stringify(row.repeat(times));
    const headers = { ...given, ...(await sign?.({ method, url, headers: given, body })) };
    const answer = await fetch(url, { method, headers, ...(body && { body }) });
    const text = await answer.text();
    const got = answer.headers.get('x-request-id');
    if (got !== id) mixed.push(`answer to ${id}: has ${got}`);
    if (rows.some((other) => other !== row && text.includes(other))) mixed.push(`answer to ${id}: another's row`);
    // Clock: the pause that a busy answer asks for.
    if (BUSY.includes(answer.status)) return sleep(RETRY_MS).then(() => ask(round, row));
    if (!statuses.some((status) => status === answer.status) || !text.includes(row))
      mixed.push(`answer to ${id}: ${answer.status} ${text}`);
  }

  for (const round of ROUNDS) await Promise.all(rows.map((row) => ask(round, row)));

  const [lines, counted] = ['functions.log', 'metrics.log'].map((name) => (): readonly Line[] => {
    const text = readFileSync(join(dirname(stack.functionLog), name), 'utf8');
    return text.split('\n').flatMap((line) => (line.includes(run) ? [JSON.parse(line.slice(line.indexOf('{')))] : []));
  }) as [() => readonly Line[], () => readonly Line[]];
  const refused = (): readonly Line[] => lines().filter(({ path }) => path !== undefined);
  await until('the logs have a line for each', () => refused().length >= AT_ONCE && counted().length >= AT_ONCE);
  for (const { request_id: id = '', traceparent, path = '' } of refused()) {
    const [wanted, row = 'none'] = asked.get(id) ?? [];
    if (wanted !== traceparent || !path.includes(row)) mixed.push(`log line of ${id}: ${path}`);
  }
  const counts = Object.groupBy(counted(), ({ request_id: id = '' }) => id);
  for (const [id, some = []] of Object.entries(counts))
    if (some.length !== 1 || Object.values(some[0] ?? {}).some((times) => typeof times === 'number' && times !== 1))
      mixed.push(`metrics of ${id}: ${JSON.stringify(some)}`);
  return mixed;
}

type Line = { readonly [Member in 'request_id' | 'traceparent' | 'path']?: string } & Readonly<Record<string, unknown>>;

/** The variable of a module that every request of an instance sets. */
const SHARED = `import { handler as real } from './real.mjs';
let id;
const handler = async (event, context) => {
  id = event.headers['x-request-id'];
  await new Promise(setImmediate);
  return real({ ...event, headers: { ...event.headers, 'x-request-id': id } }, context);
};
export { handler };
`;

/** Makes a running function keep its request's id in a variable. Returns a function that takes this back. */
export async function plantSharedVariable(stack: Stack, title: string): Promise<() => Promise<void>> {
  const assembly = join(dirname(stack.functionLog), 'cdk.out');
  const found = addressesOf(loadAssembly(assembly)).find(
    ({ resource: { Type, Metadata } }) =>
      Type === 'AWS::Lambda::Function' && String(Metadata?.['aws:cdk:path']).endsWith(`/${title}/Resource`),
  );
  const folder = join(assembly, String(found?.resource.Metadata?.['aws:asset:path']));
  const [bundle, real] = [join(folder, 'index.mjs'), join(folder, 'real.mjs')];
  renameSync(bundle, real);
  writeFileSync(bundle, SHARED);
  await stack.killFunction(title);
  return async () => {
    renameSync(real, bundle);
    await stack.killFunction(title);
  };
}
