/**
 * `npm run alarms -- [SECTION…]`: breaks a local stack so that each alarm of its templates rings, and repairs it so
 * that it falls silent again. Prints the result of each. Takes sections of the runbook, or all.
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { dataFolder } from '../../infra/local/folder/data-folder.ts';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';
import { loadAssembly } from '../../infra/local/template/synthesize.ts';
import { localResources } from '../../infra/local/template/resources/local-resources.ts';
import { onInterrupt } from '../support/interrupt.ts';
import { endProcessesOn } from '../support/leftovers.ts';
import { alarmsOf, metricsOf, type AlarmDefinition } from './alarm.ts';
import { ROUNDS } from './alarm-cases.ts';
import { alarmTable } from './alarm-table.ts';
import { AlarmWorld } from './alarm-world.ts';
import { gather } from './metrics/gather.ts';
import { MetricStore } from './metrics/metric-store.ts';
import { ring, type AlarmCase, type Bench, type Rung } from './ring.ts';

const wanted = process.argv.slice(2);
const sections = ROUNDS.flat(2).flatMap((one) => one.sections);
const strange = wanted.filter((name) => !sections.includes(name));
if (strange.length > 0) {
  console.error(`wanted sections of the runbook among ${sections.join(', ')}, got ${strange.join(', ')}`);
  process.exit(1);
}
const isWanted = (names: readonly string[]): boolean =>
  wanted.length === 0 || names.some((name) => wanted.includes(name));

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'schemaless-alarms-')));
const clearAll = (): void => {
  endProcessesOn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
};
const interrupted = onInterrupt(clearAll);
const begun = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${line}`);

try {
  const { lines, failed } = await ringAll();
  console.log(`\n${lines.join('\n')}\n`);
  for (const line of failed) console.log(`FAIL: ${line}`);
  console.log(
    failed.length === 0 ? 'every alarm rang and fell silent, or cannot ring here' : `${failed.length} failed`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
} catch (error) {
  if (!interrupted.aborted) throw error;
  process.exitCode = 130;
} finally {
  clearAll();
}

async function ringAll(): Promise<ReturnType<typeof alarmTable>> {
  const [data, app] = [join(folder, 'data'), join(folder, 'app.mts')];
  const stack = await startWith({ data, app });
  const ending = new AbortController();
  const signal = AbortSignal.any([interrupted, ending.signal]);
  const store = new MetricStore();
  const alarms = alarmsHere(stack, data);
  const deploy = async (schedules: 'on' | 'off'): Promise<void> => {
    writeApp(app, schedules);
    await stack.takeOver();
  };
  const world = new AlarmWorld({ stack, data, alarms, deploy, signal });
  const gathering = gather(store, { stack, data, apiId: apiOf(alarms) }, signal);
  gathering.catch(() => ending.abort());
  try {
    say(`${alarms.length} alarms`);
    // Clients always send some requests.
    void world.again(1, () => world.once('trips').getHealth());
    const all: Rung[] = [];
    for (const lanes of ROUNDS)
      await Promise.all(lanes.map(async (lane) => all.push(...(await inTurn({ world, store, say }, lane)))));
    return alarmTable(wanted.length === 0 ? alarms : alarms.filter(({ section }) => isWanted([section])), all);
  } finally {
    ending.abort();
    await gathering.catch((error: unknown) => console.error(error));
    await stack.stop();
  }
}

function startWith({ data, app }: { readonly data: string; readonly app: string }): Promise<LocalStack> {
  writeApp(app, 'on');
  say('starting a local stack');
  return startLocalStack({
    data,
    app,
    port: 0,
    // The fewest that keep copies of writes; and one reader, to be promoted.
    groups: 3,
    readers: 1,
    shards: 6,
    datastores: join(import.meta.dirname, 'datastores'),
    log: () => undefined,
  });
}

function writeApp(path: string, schedules: 'on' | 'off'): void {
  const deployed = JSON.stringify(pathToFileURL(join(PROJECT_ROOT, 'infra/app.ts')).href);
  writeFileSync(
    path,
    `import { buildApp as build } from ${deployed};\nexport const buildApp = (app) => build(app, { schedules: ${schedules === 'on'} });\n`,
  );
}

function alarmsHere({ url, groups, services }: LocalStack, data: string): readonly AlarmDefinition[] {
  const stacks = loadAssembly(dataFolder(data).assembly);
  const { context } = localResources(stacks, { groups: groups.groups, httpUrl: url, sqsUrl: services.sqs.url });
  return alarmsOf(stacks, context.property);
}

function apiOf(alarms: readonly AlarmDefinition[]): string {
  const ids = alarms.flatMap(({ checks }) => metricsOf(checks).flatMap(({ dimensions }) => dimensions['ApiId'] ?? []));
  if (ids[0] === undefined) throw new Error('wanted an alarm that looks at the API');
  return ids[0];
}

async function inTurn(bench: Bench, lane: readonly AlarmCase[]): Promise<readonly Rung[]> {
  const all: Rung[] = [];
  for (const one of lane) if (isWanted(one.sections)) all.push(...(await ring(bench, one)));
  return all;
}
