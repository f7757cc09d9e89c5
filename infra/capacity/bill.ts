import { defaultPartitions } from '../../shared/follow/follower-item.ts';
import { SHARDS_A_PAGE } from '../../shared/follow/log-pages.ts';
import { MADE_USERS } from '../../shared/topology/database-users.ts';
import { FEWEST_ENVIRONMENTS, loopSlots, MANAGED } from '../constructs/connection-budget.ts';
import { backupRules, canSeal, recoveryDays } from '../constructs/store-environment.ts';
import { ZONES_UNNAMED, zonesFor } from '../constructs/zones.ts';
import type { EnvironmentProps } from '../environments.ts';

/** USD on demand in us-east-1, from public price lists of 2025 and 2026, without free tiers, taxes and discounts. */
const PRICES = {
  acuHour: 0.12,
  proxyAcuHour: 0.015,
  storageGb: 0.1,
  io: 0.2e-6,
  backupGb: 0.021,
  otherRegionGb: 0.02,
  dataApiCall: 0.35e-6,
  gbSecond: 13.3334e-6,
  invocation: 0.2e-6,
  /** Of `c8g.xlarge`, which has four. */
  vcpuHour: 0.0399,
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
 * USD an hour for a vCPU of Lambda Managed Instances: the price of EC2 and a management fee of 15 %. Requests cost as on
 * demand. Source: https://aws.amazon.com/lambda/pricing/, as of September 2026.
 */
const MANAGED_VCPU_HOUR = PRICES.vcpuHour * 1.15;

/**
 * The load: each write is one cell with one index entry and one trigger. **Measured** on one machine of two cores: bytes,
 * statements, commits, 5,200 appends a second (8 ACU are taken for two cores). The rest are estimates: replace them by
 * what your account shows.
 */
export const ASSUMPTIONS = {
  triggers: 2,
  /** Bytes on disk of a cell and of its entry, with keys and pages that are not full. */
  storedBytes: 930 + 300,
  writeMs: 25,
  readMs: 10,
  triggerMs: 50,
  /** CPU of a tailer for a cell. Measured: sending takes 0.1 ms, with ten messages a request; alone 1.1 ms. */
  tailCpuMs: 0.2,
  /** CPU of a write and of a read in a function: managed instances need no more for one that waits. */
  writeCpuMs: 2,
  readCpuMs: 1,
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
/** `drain-buffer`, `maintenance`, `move-shards` and `tail-shards`. */
const LOOPS = 4;

const HOURS = 730;
export const SECONDS = HOURS * 3600;
const GB = 1024 ** 3;
/** Shards of a datastore unless the environment says otherwise. */
const SHARDS = 4096;

/** Lines of a bill, in USD. */
export type Bill = Readonly<Record<string, number>>;

export const sumOf = (bill: Bill): number => Object.values(bill).reduce((sum, usd) => sum + usd, 0);

/** Returns the deployed resources that are billed by the hour. */
export function standingOf(environment: EnvironmentProps) {
  const { groups, readersPerGroup, proxy, databaseAuth, functionsInVpc, schedules, tailers } = environment;
  const readsSecrets = environment.sealsFields === true || databaseAuth === 'secret';
  const telemetry = environment.managedInstances ? 1 + Number(environment.tracing) : 0;
  const zones = zonesFor(environment.region, environment.zones)?.length ?? ZONES_UNNAMED;
  const ofReaders = readersPerGroup > 0 ? ALARMS.readers + (proxy ? ALARMS.proxiedReaders : 0) : 0;
  const perGroup = ALARMS.group + (proxy ? ALARMS.proxy : 0) + ofReaders;
  const ofLoops = schedules ? LOOPS * ALARMS.loop : 0;
  return {
    zones,
    nodes: groups * (1 + readersPerGroup),
    schedules: schedules ? 2 * loopSlots(environment) + 1 + tailers : 0,
    // SQS; Secrets Manager if functions log in with passwords or seal fields; logs and traces of managed instances.
    endpoints: functionsInVpc ? zones * (1 + Number(readsSecrets) + telemetry) : 0,
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
  const slots = loopSlots(environment);
  const loopMb = schedules ? (tailers + slots) * loopMemoryMb + (groups > 1 ? slots * smallFunctionMb : 0) : 0;
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
    'Lambda: managed instances': managedVcpus(environment) * HOURS * MANAGED_VCPU_HOUR,
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

/**
 * Returns the vCPUs of managed instances without requests: one for each of the fewest environments, and one of each
 * instance that AWS keeps. Larger instances, which AWS may choose, cost more.
 */
function managedVcpus({ managedInstances, instances }: EnvironmentProps): number {
  if (!managedInstances || !instances) return 0;
  return MANAGED.reduce((sum, name) => sum + Math.min(FEWEST_ENVIRONMENTS, instances[name]), FEWEST_ENVIRONMENTS);
}

/** Returns what a request takes of a function: memory while it lasts, or CPU on managed instances. */
function takenBy({ managedInstances }: EnvironmentProps, milliseconds: number, cpuMs: number) {
  const { functionMb, usedShare } = ASSUMPTIONS;
  return managedInstances
    ? { gbSeconds: 0, cpuSeconds: cpuMs / 1000 / usedShare }
    : { gbSeconds: (milliseconds * functionMb) / 1024 / 1000, cpuSeconds: 0 };
}

/** Units a second of the state table: leases, heartbeats, offsets that change hands each minute, the topology. */
function stateAtRest(environment: EnvironmentProps): { readonly writes: number; readonly reads: number } {
  const { groups, tailers } = environment;
  const { triggers } = ASSUMPTIONS;
  const slots = loopSlots(environment);
  const shards = environment.shards['trips'] ?? SHARDS;
  const partitions = defaultPartitions(shards);
  const offsetUnits = Math.ceil(((shards / partitions) * 20) / 1024);
  const assigned = partitions * (triggers + 1);
  const renewals = ((groups > 1 ? groups : 0) + 1) / 2;
  const topologyReads = (3.2 * slots + tailers / 5) * Math.ceil((shards * 6 + groups * 700) / 4096);
  return {
    writes: tailers + slots / 2 + renewals + (assigned * 2 * offsetUnits) / 60,
    reads: assigned * (3 / 60 + 1 / 30) + renewals + tailers * (1 + 1.5 * triggers) + groups / 2 + topologyReads,
  };
}

/** Returns the cost of a million writes: a cell, its copies, its entry, and its trigger's call. */
export function millionWrites(environment: EnvironmentProps): Bill {
  const { writeMs, writeCpuMs, triggerMs, smallFunctionMb, copyWork, entryWork, tailWork } = ASSUMPTIONS;
  const { bufferCopies: copies } = environment;
  const { gbSeconds, cpuSeconds } = takenBy(environment, writeMs, writeCpuMs);
  return perMillion(environment, {
    gbSeconds: gbSeconds + (triggerMs * smallFunctionMb) / 1024 / 1000,
    cpuSeconds,
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
  const { readMs, readCpuMs, readWork } = ASSUMPTIONS;
  return perMillion(environment, {
    ...takenBy(environment, readMs, readCpuMs),
    calls: 1,
    work: readWork,
    statements: 1,
  });
}

/**
 * Returns the monthly cost of AWS Backup for each GB of cells. Each copy is full; here it costs nothing while clusters
 * restore to any second. Their changes are free up to the size of the cells, which nothing deletes.
 */
export function backupsPerGb({ backups, ...environment }: EnvironmentProps): number {
  if (!backups) return 0;
  const copies = backupRules(backups).map(({ every, days, elsewhere }) => {
    const billed = Math.max(0, days - recoveryDays(environment)) / every;
    if (backups.copyTo === undefined) return billed * PRICES.backupGb;
    return (billed + elsewhere / every) * PRICES.backupGb + (HOURS / 24 / every) * PRICES.otherRegionGb;
  });
  return copies.reduce((sum, usd) => sum + usd, 0);
}

/** The resources of one request: `bytes` are added to the storage, `queue` is in USD. */
const NOTHING = {
  gbSeconds: 0,
  cpuSeconds: 0,
  calls: 0,
  work: 0,
  io: 0,
  bytes: 0,
  statements: 0,
  queue: 0,
  metricLines: 0,
};

function perMillion(environment: EnvironmentProps, used: Partial<typeof NOTHING>): Bill {
  const { readersPerGroup, proxy, access, tracing, logDays } = environment;
  const { gbSeconds, cpuSeconds, calls, work, io, bytes, statements, queue, metricLines } = { ...NOTHING, ...used };
  const { appendsPerAcu, usedShare, requestLogBytes, metricLogBytes, logCompression, tracedShare } = ASSUMPTIONS;
  // The first reader is as large as the writer.
  const acuHours = ((work / (appendsPerAcu * usedShare)) * (readersPerGroup > 0 ? 2 : 1)) / 3600;
  const logGb = (requestLogBytes + metricLines * metricLogBytes) / GB;
  const bill = {
    'HTTP API': PRICES.httpRequest,
    Lambda: gbSeconds * PRICES.gbSecond + (cpuSeconds / 3600) * MANAGED_VCPU_HOUR + calls * PRICES.invocation,
    'Aurora: capacity': acuHours * (PRICES.acuHour + (proxy ? PRICES.proxyAcuHour : 0)),
    'Aurora: I/O': io * PRICES.io,
    'Aurora: storage, each month': (bytes / GB) * PRICES.storageGb,
    'Backups, each month': (bytes / GB) * backupsPerGb(environment),
    'RDS Data API': access === 'data-api' ? statements * PRICES.dataApiCall : 0,
    'SQS, DynamoDB': queue,
    'Logs, X-Ray':
      logGb * (PRICES.logGb + (PRICES.logGbKept * logCompression * logDays * 24) / HOURS) +
      (tracing ? calls * tracedShare * PRICES.trace : 0),
  };
  return Object.fromEntries(Object.entries(bill).map(([name, usd]) => [name, usd * 1e6]));
}
