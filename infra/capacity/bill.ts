import { METRICS } from '../../shared/metrics.ts';
import type { BillLine, Needs, Plan } from './plan.ts';
import { costOf, GB, HOURS_A_MONTH, PRICES, SECONDS_A_MONTH } from './prices.ts';
import type { Calls } from './traffic.ts';
import { zonesIn } from './standing-parts.ts';

/** The least that an RDS Proxy before a serverless cluster is billed for. */
const PROXY_LEAST_ACU = 8;
/** Outcomes of writes, which are counted under their own names. */
const OUTCOMES = 5;
/** The drain says how much waits whether or not anything does. */
const METRICS_OF_BUFFERS = 4;
/** How far the repair is behind, and consuming and sending, in cells and seconds; what waits for an operator. */
const METRICS_OF_FOLLOWERS = 1 + 4 + 3;
const STARTS_A_MONTH = HOURS_A_MONTH * 60;
const DAYS_A_MONTH = HOURS_A_MONTH / 24;

/** The bill of a month, in lines that are always the same ones. */
export function billOf(needs: Needs): Pick<Plan, 'bill' | 'storage'> {
  const { load, traffic, database, state, standing } = needs;
  const aurora = cheaperAurora(needs);
  const loops = lambdaOf([], traffic.loops.megabytes, standing.schedules * STARTS_A_MONTH);
  const called = [traffic.writeCells, traffic.readCells, traffic.triggerFunctions];
  const bill: BillLine[] = [
    ...aurora.lines,
    { name: 'RDS Proxy', usd: load.environment.proxy ? proxyOf(needs) : 0 },
    { name: 'RDS Data API', usd: costOf(PRICES.dataApiCall, database.dataApiCalls * SECONDS_A_MONTH) },
    { name: 'Lambda: drain, repair, tailers', usd: loops },
    {
      name: "Lambda: the API's and triggers' functions",
      // What is above others gets the lower price.
      usd: lambdaOf(called, traffic.loops.megabytes, standing.schedules * STARTS_A_MONTH) - loops,
      inFront: true,
    },
    { name: 'HTTP API', usd: costOf(PRICES.httpRequest, traffic.requests * SECONDS_A_MONTH), inFront: true },
    {
      name: 'SQS',
      usd: costOf(PRICES.sqsRequest, (traffic.sends + traffic.receives + traffic.looks) * SECONDS_A_MONTH),
    },
    {
      name: 'DynamoDB',
      usd:
        costOf(PRICES.writeUnit, state.writes * SECONDS_A_MONTH) +
        costOf(PRICES.readUnit, state.reads * SECONDS_A_MONTH),
    },
    { name: 'Network: endpoints, traffic between zones', usd: networkOf(needs) },
    { name: 'Secrets Manager', usd: secretsOf(needs) },
    { name: 'CloudWatch: alarms, metrics, dashboard', usd: watchOf(needs) },
    { name: 'CloudWatch: logs', usd: logsOf(needs), inFront: true },
    { name: 'X-Ray', usd: load.environment.tracing ? tracesOf(needs) : 0, inFront: true },
    { name: 'EventBridge Scheduler', usd: costOf(PRICES.scheduleStart, standing.schedules * STARTS_A_MONTH) },
  ];
  return { bill, storage: aurora.storage };
}

function cheaperAurora({ database }: Needs): {
  readonly storage: Plan['storage'];
  readonly lines: readonly BillLine[];
} {
  const acuHours = database.groups * database.groupAcu * HOURS_A_MONTH;
  const stored = database.storedBytes / GB;
  const lines = (capacity: number, storage: number, io: number): BillLine[] => [
    { name: 'Aurora: capacity', usd: capacity },
    { name: 'Aurora: storage', usd: storage },
    { name: 'Aurora: I/O', usd: io },
  ];
  const standard = lines(
    costOf(PRICES.acuHour, acuHours),
    costOf(PRICES.storageGb, stored),
    costOf(PRICES.io, database.io * SECONDS_A_MONTH),
  );
  const optimized = lines(costOf(PRICES.acuHourIoOptimized, acuHours), costOf(PRICES.storageGbIoOptimized, stored), 0);
  const sum = (some: readonly BillLine[]): number => some.reduce((total, { usd }) => total + usd, 0);
  return sum(optimized) < sum(standard)
    ? { storage: 'io-optimized', lines: optimized }
    : { storage: 'standard', lines: standard };
}

/** A second endpoint of each proxy leads to the readers, and is an interface endpoint of its own. */
function proxyOf({ database, load }: Needs): number {
  const acus = costOf(
    PRICES.proxyAcuHour,
    database.groups * Math.max(PROXY_LEAST_ACU, database.groupAcu) * HOURS_A_MONTH,
  );
  return (
    acus +
    (load.environment.readersPerGroup > 0
      ? costOf(PRICES.endpointHour, database.groups * zonesIn(load.environment) * HOURS_A_MONTH)
      : 0)
  );
}

function lambdaOf(called: readonly Calls[], loopMegabytes: number, starts: number): number {
  const megabytes = called.reduce((sum, { concurrency, megabytes: each }) => sum + concurrency * each, loopMegabytes);
  const calls = called.reduce((sum, { perSecond }) => sum + perSecond, 0) * SECONDS_A_MONTH + starts;
  return costOf(PRICES.gbSecond, (megabytes / 1024) * SECONDS_A_MONTH) + costOf(PRICES.invocation, calls);
}

/** What functions and clusters say to each other crosses zones as often as there are others. */
function networkOf({ load, traffic, standing, assumptions }: Needs): number {
  const { environment, writesPerSecond } = load;
  if (!environment.functionsInVpc) return 0;
  const zones = zonesIn(environment);
  const bytes =
    (writesPerSecond * (1 + environment.bufferCopies) + traffic.reads) * assumptions.cellBytes * SECONDS_A_MONTH;
  const sent = (traffic.triggerCells * assumptions.messageBytes * SECONDS_A_MONTH) / GB;
  return (
    costOf(PRICES.endpointHour, standing.endpoints * HOURS_A_MONTH) +
    costOf(PRICES.endpointGb, sent) +
    costOf(PRICES.crossZoneGb, ((bytes / GB) * (zones - 1)) / zones)
  );
}

/** Where functions log in with passwords, each instance asks for one of each group. */
function secretsOf({ load, traffic, database, standing, assumptions }: Needs): number {
  if (load.environment.access !== 'mysql' || load.environment.databaseAuth !== 'secret')
    return costOf(PRICES.secretMonth, standing.secrets);
  const instances =
    Math.ceil(traffic.writeCells.concurrency) +
    Math.ceil(traffic.readCells.concurrency) +
    Math.ceil(traffic.loops.concurrency);
  return (
    costOf(PRICES.secretMonth, standing.secrets) +
    costOf(PRICES.secretCall, (instances * database.groups * SECONDS_A_MONTH) / assumptions.instanceSeconds)
  );
}

function watchOf({ load, database, standing }: Needs): number {
  const atRest = load.environment.schedules ? METRICS_OF_FOLLOWERS + (database.groups > 1 ? METRICS_OF_BUFFERS : 0) : 0;
  const metrics = load.writesPerSecond > 0 ? Object.keys(METRICS).length + OUTCOMES : atRest;
  return (
    costOf(PRICES.alarmMetric, standing.alarmMetrics) +
    costOf(PRICES.dashboard, standing.dashboards) +
    costOf(PRICES.metric, metrics)
  );
}

/** Taken in, and kept for as long as the environment says. */
function logsOf({ load, traffic, assumptions }: Needs): number {
  const { accessLineBytes, invocationLogBytes, metricLineBytes, logCompression } = assumptions;
  const invocations = traffic.requests + traffic.batches;
  const bytes =
    traffic.requests * accessLineBytes +
    invocations * invocationLogBytes +
    (load.writesPerSecond + traffic.batches) * metricLineBytes;
  const taken = (bytes * SECONDS_A_MONTH) / GB;
  return (
    costOf(PRICES.logGb, taken) +
    costOf(PRICES.logGbKept, (taken * logCompression * load.environment.logDays) / DAYS_A_MONTH)
  );
}

/** Of each function a trace a second, and a share of what comes beyond. */
function tracesOf({ traffic, standing, assumptions: { tracedShare, tracedPerSecond } }: Needs): number {
  const rates = [
    traffic.writeCells.perSecond,
    traffic.readCells.perSecond,
    traffic.triggerFunctions.perSecond,
    standing.schedules / 60,
  ];
  const traced = rates.reduce(
    (sum, rate) => sum + Math.min(rate, tracedPerSecond) + Math.max(0, rate - tracedPerSecond) * tracedShare,
    0,
  );
  return costOf(PRICES.trace, traced * SECONDS_A_MONTH);
}
