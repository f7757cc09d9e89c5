/**
 * `npm run capacity -- [WRITES …]`: what environments cost, and which rates their connections allow. Estimates, since
 * nothing was measured on AWS; the tables are those of `infra/docs/operations/capacity.md`.
 */
import { parseArgs } from 'node:util';
import { defaultPartitions } from '../shared/follow/follower-item.ts';
import { SHARDS_A_PAGE } from '../shared/follow/log-pages.ts';
import { MADE_USERS } from '../shared/topology/database-users.ts';
import { canSeal } from './constructs/store-environment.ts';
import { connectionBudget } from './constructs/connection-budget.ts';
import { ZONES_UNNAMED, zonesFor } from './constructs/zones.ts';
import { ENVIRONMENTS, type EnvironmentProps } from './environments.ts';

/** USD on demand in us-east-1, from public price lists of 2025 and 2026, without free tiers, taxes and discounts. */
const PRICES = {
  acuHour: 0.12,
  proxyAcuHour: 0.015,
  storageGb: 0.1,
  io: 0.2e-6,
  dataApiCall: 0.35e-6,
  gbSecond: 13.3334e-6,
  invocation: 0.2e-6,
  httpRequest: 1e-6,
  sqsRequest: 0.5e-6,
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  endpointHour: 0.01,
  secret: 0.4,
  alarmMetric: 0.1,
  dashboard: 3,
  metric: 0.3,
  logGb: 0.5,
  logGbKept: 0.03,
  trace: 5e-6,
  scheduleStart: 1e-6,
} as const;

/**
 * The load: each write is one cell with one index entry and one trigger. **Measured** on one machine of two cores: bytes,
 * statements, commits, 5,200 appends a second (8 ACU are taken for two cores). The rest are estimates: replace them by
 * what your account shows.
 */
const ASSUMPTIONS = {
  triggers: 2,
  /** Bytes on disk of a cell and of its entry, with keys and pages that are not full. */
  storedBytes: 930 + 300,
  writeMs: 25,
  readMs: 10,
  triggerMs: 50,
  /** Memory of the functions that answer; that of the drain and of triggers' functions. */
  functionMb: 1769,
  smallFunctionMb: 512,
  /** Share of a minute in which a loop runs in parallel with its successor. */
  overlap: 2 / 60,
  appendsPerAcu: 5200 / 8,
  /** Share of a writer, and of the instances, that is used on average; the rest is for peaks. */
  usedShare: 0.6,
  /** Work in appends: a buffered copy, an index entry, a read, a cell that tailers and repair read. */
  copyWork: 1.25,
  entryWork: 1,
  readWork: 0.2,
  tailWork: 0.3,
  /** Writes a second that a group is planned for. */
  writesPerGroup: 2500,
  /** A send, a receive and a delete for each cell; batches of ten make it a tenth at high rates. */
  sqsRequests: 3,
  stateWrites: 1,
  /** Bytes of log lines: of a request (access log, Lambda), of a write's or a batch's metrics. */
  requestLogBytes: 800,
  metricLogBytes: 350,
  logCompression: 0.15,
  tracedShare: 0.05,
} as const;

/** Alarms by subject, in metrics that they watch. A test compares the sum with the templates. */
const ALARMS = { store: 50, trigger: 4, group: 4, proxy: 4, readers: 1, proxiedReaders: 1, loop: 1 } as const;
const METRICS_AT_REST = 12;
/** `drain-buffer`, `maintenance` and `move-shards`; each tailer has its own schedule. */
const LOOPS = 3;

const HOURS = 730;
const SECONDS = HOURS * 3600;
const GB = 1024 ** 3;
/** Shards of a datastore unless the environment says otherwise. */
const SHARDS = 4096;
/** Sizes of `capacity.max` in ACU. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256] as const;

/** Lines of a bill, in USD. */
type Bill = Readonly<Record<string, number>>;

export const sumOf = (bill: Bill): number => Object.values(bill).reduce((sum, usd) => sum + usd, 0);

/** Returns the deployed resources that are billed by the hour. */
export function standingOf(environment: EnvironmentProps) {
  const { groups, readersPerGroup, proxy, databaseAuth, functionsInVpc, schedules, tailers } = environment;
  const zones = zonesFor(environment.region, environment.zones)?.length ?? ZONES_UNNAMED;
  const ofReaders = readersPerGroup > 0 ? ALARMS.readers + (proxy ? ALARMS.proxiedReaders : 0) : 0;
  const perGroup = ALARMS.group + (proxy ? ALARMS.proxy : 0) + ofReaders;
  const ofLoops = schedules ? (LOOPS + 1) * ALARMS.loop : 0;
  return {
    zones,
    nodes: groups * (1 + readersPerGroup),
    schedules: schedules ? LOOPS + tailers : 0,
    // SQS, and Secrets Manager if functions log in with passwords or seal fields.
    endpoints: functionsInVpc ? zones * (environment.sealsFields || databaseAuth === 'secret' ? 2 : 1) : 0,
    // Of each cluster's owner, of the users that have no tokens, and the root key.
    secrets: groups + (databaseAuth === 'iam' ? 0 : MADE_USERS.length) + (canSeal(environment) ? 1 : 0),
    alarmMetrics: ALARMS.store + ASSUMPTIONS.triggers * ALARMS.trigger + groups * perGroup + ofLoops,
  };
}

/** Returns the monthly cost of an environment without requests. */
export function restOf(environment: EnvironmentProps): Bill {
  const { groups, readersPerGroup, proxy, capacity, access, schedules, tailers, loopMemoryMb } = environment;
  const { triggers, overlap, smallFunctionMb } = ASSUMPTIONS;
  const { zones, nodes, ...standing } = standingOf(environment);
  const pages = Math.ceil((environment.shards['trips'] ?? SHARDS) / SHARDS_A_PAGE);
  // Tailers keep a node awake that could pause.
  const acu = schedules ? Math.max(capacity.min, 0.5) : capacity.min;
  const loopMb = schedules ? (tailers + 1) * loopMemoryMb + (groups > 1 ? smallFunctionMb : 0) : 0;
  const starts = standing.schedules * HOURS * 60;
  const state = schedules ? stateAtRest(environment) : { writes: 0, reads: 0 };
  const polls = (schedules ? (tailers * triggers) / 5 : 0) + triggers / 4;
  return {
    'Aurora: capacity': nodes * acu * HOURS * PRICES.acuHour,
    'RDS Proxy': proxy
      ? groups * HOURS * Math.max(8, acu * (1 + readersPerGroup)) * PRICES.proxyAcuHour +
        (readersPerGroup > 0 ? groups * zones * HOURS * PRICES.endpointHour : 0)
      : 0,
    // A page of shards is polled every 640 ms by tailers, every second by the repair.
    'RDS Data API': access === 'data-api' && schedules ? pages * (1 / 0.64 + 1) * SECONDS * PRICES.dataApiCall : 0,
    'Lambda: drain, repair, tailers':
      (loopMb / 1024) * (1 + overlap) * SECONDS * PRICES.gbSecond + starts * (PRICES.invocation + PRICES.scheduleStart),
    'DynamoDB, SQS':
      SECONDS * (state.writes * PRICES.writeUnit + state.reads * PRICES.readUnit + polls * PRICES.sqsRequest),
    'Interface endpoints': standing.endpoints * HOURS * PRICES.endpointHour,
    'Secrets Manager': standing.secrets * PRICES.secret,
    'CloudWatch, X-Ray':
      standing.alarmMetrics * PRICES.alarmMetric +
      PRICES.dashboard +
      (schedules ? METRICS_AT_REST * PRICES.metric : 0) +
      (environment.tracing ? starts * PRICES.trace : 0),
  };
}

/** Units a second of the state table: leases, heartbeats, offsets that change hands each minute, the topology. */
function stateAtRest(environment: EnvironmentProps): { readonly writes: number; readonly reads: number } {
  const { groups, tailers } = environment;
  const { triggers } = ASSUMPTIONS;
  const shards = environment.shards['trips'] ?? SHARDS;
  const partitions = defaultPartitions(shards);
  const offsetUnits = Math.ceil(((shards / partitions) * 20) / 1024);
  const assigned = partitions * (triggers + 1);
  const renewals = ((groups > 1 ? groups : 0) + 1) / 2;
  const topologyReads = (3.2 + tailers / 5) * Math.ceil((shards * 6 + groups * 700) / 4096);
  return {
    writes: tailers + 0.5 + renewals + (assigned * 2 * offsetUnits) / 60,
    reads: assigned * (3 / 60 + 1 / 30) + renewals + tailers * (1 + 1.5 * triggers) + groups / 2 + topologyReads,
  };
}

/** Returns the cost of a million writes: a cell, its copies, its entry, and its trigger's call. */
export function millionWrites(environment: EnvironmentProps): Bill {
  const { writeMs, functionMb, triggerMs, smallFunctionMb, copyWork, entryWork, tailWork } = ASSUMPTIONS;
  const { bufferCopies: copies } = environment;
  return perMillion(environment, {
    gbSeconds: (writeMs * functionMb + triggerMs * smallFunctionMb) / 1024 / 1000,
    calls: 2,
    work: 1 + copies * copyWork + entryWork + tailWork,
    // A commit for each part and for the deletion of each copy, and the pages of the cell and of the entry.
    io: 2 + copies + copies + 2,
    bytes: ASSUMPTIONS.storedBytes,
    statements: 1 + copies + 2,
    queue: ASSUMPTIONS.sqsRequests * PRICES.sqsRequest + ASSUMPTIONS.stateWrites * PRICES.writeUnit,
    metricLines: 2,
  });
}

export function millionReads(environment: EnvironmentProps): Bill {
  const { readMs, functionMb, readWork } = ASSUMPTIONS;
  const gbSeconds = (readMs * functionMb) / 1024 / 1000;
  return perMillion(environment, { gbSeconds, calls: 1, work: readWork, statements: 1 });
}

/** The resources of one request: `bytes` are added to the storage, `queue` is in USD. */
const NOTHING = { gbSeconds: 0, calls: 0, work: 0, io: 0, bytes: 0, statements: 0, queue: 0, metricLines: 0 };

function perMillion(environment: EnvironmentProps, used: Partial<typeof NOTHING>): Bill {
  const { readersPerGroup, proxy, access, tracing, logDays } = environment;
  const { gbSeconds, calls, work, io, bytes, statements, queue, metricLines } = { ...NOTHING, ...used };
  const { appendsPerAcu, usedShare, requestLogBytes, metricLogBytes, logCompression, tracedShare } = ASSUMPTIONS;
  // The first reader is as large as the writer.
  const acuHours = ((work / (appendsPerAcu * usedShare)) * (readersPerGroup > 0 ? 2 : 1)) / 3600;
  const logGb = (requestLogBytes + metricLines * metricLogBytes) / GB;
  const bill = {
    'HTTP API': PRICES.httpRequest,
    Lambda: gbSeconds * PRICES.gbSecond + calls * PRICES.invocation,
    'Aurora: capacity': acuHours * (PRICES.acuHour + (proxy ? PRICES.proxyAcuHour : 0)),
    'Aurora: I/O': io * PRICES.io,
    'Aurora: storage, each month': (bytes / GB) * PRICES.storageGb,
    'RDS Data API': access === 'data-api' ? statements * PRICES.dataApiCall : 0,
    'SQS, DynamoDB': queue,
    'Logs, X-Ray':
      logGb * (PRICES.logGb + (PRICES.logGbKept * logCompression * logDays * 24) / HOURS) +
      (tracing ? calls * tracedShare * PRICES.trace : 0),
  };
  return Object.fromEntries(Object.entries(bill).map(([name, usd]) => [name, usd * 1e6]));
}

/**
 * Returns the demand of a rate of writes, and as many reads. Asks the budget to which synthesis holds an environment.
 * Throws an Error if functions hold no connections.
 */
export function fitOf(environment: EnvironmentProps, writes: number) {
  const { writeMs, readMs, usedShare, writesPerGroup } = ASSUMPTIONS;
  const atOnce = (milliseconds: number): number => Math.max(1, Math.ceil((writes * milliseconds) / 1000 / usedShare));
  const own = environment.instances;
  const instances = { 'write-cells': atOnce(writeMs), 'read-cells': atOnce(readMs) };
  const budgetOf = (max: number) => {
    const capacity = { ...environment.capacity, max };
    const budget = own && connectionBudget({ ...environment, capacity, instances: { ...own, ...instances } });
    if (!budget) throw new Error(`${environment.name}: wanted an environment whose functions hold connections`);
    return budget;
  };
  const { wanted: connections } = budgetOf(environment.capacity.max);
  const maxAcu = SIZES.find((max) => max >= environment.capacity.min && connections <= budgetOf(max).allowed);
  const groups = Math.max(environment.groups, Math.ceil(writes / writesPerGroup));
  return {
    groups,
    instances,
    /** Connections to a group's writer, if all instances are at work. */
    connections,
    /** The smallest `capacity.max` with which the app can be synthesized; undefined if there is none. */
    maxAcu,
    monthlyUsd:
      sumOf(restOf({ ...environment, groups })) +
      ((writes * SECONDS) / 1e6) * (sumOf(millionWrites(environment)) + sumOf(millionReads(environment))),
  };
}

const RATES = [100, 1000, 10_000, 100_000] as const;

export function tables(rates: readonly number[] = RATES): readonly string[] {
  const { dev, small, staging, prod } = ENVIRONMENTS;
  const off = (environment: EnvironmentProps): EnvironmentProps => ({ ...environment, schedules: false });
  const each = (work: (environment: EnvironmentProps) => Bill): Readonly<Record<string, Bill>> =>
    Object.fromEntries([dev, small, staging, prod].map((one) => [`\`${one.name}\``, work(one)]));
  const fits = rates.map((writes) => fitOf(prod, writes));
  const row = (name: string, of: (fit: (typeof fits)[number]) => string): readonly string[] => [name, ...fits.map(of)];
  return [
    billTable('USD a month, idle', {
      '`dev`': restOf(dev),
      '`dev` without schedules': restOf(off(dev)),
      '`small`': restOf(small),
      '`small` without schedules': restOf(off(small)),
      '`staging`': restOf(staging),
      '`prod`': restOf(prod),
    }),
    billTable('USD a million writes', each(millionWrites)),
    billTable('USD a million reads', each(millionReads)),
    table(
      ['`prod` at writes a second', ...rates.map((writes) => writes.toLocaleString('en-US'))],
      [
        row('groups', ({ groups }) => String(groups)),
        row('`instances` of `write-cells`, `read-cells`', ({ instances }) => Object.values(instances).join(', ')),
        row('connections to a writer', ({ connections }) => connections.toLocaleString('en-US')),
        row('`capacity.max` that allows them', ({ maxAcu }) => (maxAcu === undefined ? '**none**' : String(maxAcu))),
        row('USD a month', ({ maxAcu, monthlyUsd }) => (maxAcu === undefined ? '-' : usd(monthlyUsd))),
      ],
    ),
  ];
}

function billTable(title: string, bills: Readonly<Record<string, Bill>>): string {
  const all = Object.values(bills);
  const names = Object.keys(all[0] ?? {}).filter((name) => all.some((bill) => bill[name] !== 0));
  const rows = names.map((name) => [name, ...all.map((bill) => usd(bill[name] ?? 0))]);
  const sums = all.map((bill) => `**${usd(sumOf(bill))}**`);
  return table([title, ...Object.keys(bills)], [...rows, ['**sum**', ...sums]]);
}

/** Two or three digits: more would promise what an estimate cannot hold. */
function usd(amount: number): string {
  if (amount < 10) return amount === 0 ? '0' : amount.toFixed(2);
  return (amount < 100 ? Math.round(amount) : Number(amount.toPrecision(3))).toLocaleString('en-US');
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const rates = positionals.map(Number);
  if (rates.some((rate) => !(rate >= 0)))
    throw new Error(`Wanted writes a second from 0, got ${positionals.join(' ')}`);
  process.stdout.write(`${tables(rates.length > 0 ? rates : RATES).join('\n\n')}\n`);
}
