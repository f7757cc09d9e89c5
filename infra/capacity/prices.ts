/** What is charged for one unit, or for units beyond so many in a month. */
export interface Price {
  readonly unit: string;
  /** USD by the unit; `above` so many units in a month the next one holds, the first begins at 0. */
  readonly tiers: readonly { readonly above: number; readonly usd: number }[];
  readonly source: Source;
}

/** Where a price was read: none was checked against a bill. */
export const SOURCES = {
  file: 'a file by AWS of March 2026: the Aurora MySQL skill of its agent toolkit',
  skill: 'a file by AWS of August 2026: the DynamoDB skill of its agent toolkit',
  page: "a stored copy of AWS's price page, without a date",
  2026: "AWS's price page as others quoted it in February to June 2026",
  2025: "AWS's price page as others quoted it in May to July 2025",
  undated: "AWS's price page as others quoted it, in 2024 or without a date",
} as const;
export type Source = keyof typeof SOURCES;

/** AWS counts a month as so many hours. */
export const HOURS_A_MONTH = 730;
export const SECONDS_A_MONTH = HOURS_A_MONTH * 3600;

/** What AWS calls a GB. */
export const GB = 1024 ** 3;

const MILLION = 1_000_000;

/**
 * What AWS charges on demand in us-east-1, before taxes, free tiers, savings plans and discounts, from public price
 * lists.
 */
export const PRICES = {
  acuHour: flat(0.12, 'ACU-hour, Aurora Standard', 'file'),
  acuHourIoOptimized: flat(0.156, 'ACU-hour, Aurora I/O-Optimized', 'file'),
  storageGb: flat(0.1, 'GB-month, Aurora Standard', 'file'),
  storageGbIoOptimized: flat(0.225, 'GB-month, Aurora I/O-Optimized', 'file'),
  io: flat(0.2 / MILLION, 'I/O of the storage, Aurora Standard; none with I/O-Optimized', 'file'),
  proxyAcuHour: flat(0.015, 'ACU-hour behind an RDS Proxy, at least 8 ACU a cluster', 'undated'),
  dataApiCall: flat(0.35 / MILLION, 'call of the RDS Data API, up to 32 KB, the first billion', 'undated'),
  gbSecond: tiers(
    [0, 0.0000133334, 7.5e9, 0.0000120001, 18.75e9, 0.0000106667],
    'GB-second of a function on ARM',
    'undated',
  ),
  invocation: flat(0.2 / MILLION, 'call of a function', 'undated'),
  httpRequest: tiers([0, 1 / MILLION, 300e6, 0.9 / MILLION], 'request of an HTTP API, up to 512 KB', 2026),
  sqsRequest: flat(0.5 / MILLION, 'request of a FIFO queue, up to 64 KB', 2026),
  writeUnit: flat(0.625 / MILLION, 'write request unit of DynamoDB on demand, 1 KB', 'skill'),
  readUnit: flat(0.125 / MILLION, 'read request unit of DynamoDB on demand, 4 KB', 'skill'),
  writeUnitHour: flat(0.00065, 'hour of a provisioned write unit of DynamoDB', 2025),
  readUnitHour: flat(0.00013, 'hour of a provisioned read unit of DynamoDB', 2025),
  itemGb: flat(0.25, 'GB-month of DynamoDB, class Standard', 'skill'),
  recoverableItemGb: flat(0.2, 'GB-month of a table of DynamoDB that can be set back (PITR)', 2025),
  dpu: flat(8 / MILLION, 'DPU of Aurora DSQL', 2026),
  dsqlGb: flat(0.33, 'GB-month of Aurora DSQL', 2026),
  streamHour: flat(0.04, 'hour of a stream of Kinesis on demand', 'undated'),
  streamGbIn: flat(0.08, 'GB into a stream of Kinesis on demand', 'undated'),
  streamGbOut: flat(0.04, 'GB read from a stream of Kinesis on demand', 'undated'),
  endpointHour: flat(0.01, 'hour of an interface endpoint in one availability zone', 2026),
  endpointGb: flat(0.01, 'GB through an interface endpoint, up to 1 PB', 2026),
  crossZoneGb: flat(0.02, 'GB between two availability zones, 0.01 on either side', 'undated'),
  secretMonth: flat(0.4, 'secret', 'undated'),
  secretCall: flat(0.05 / 10_000, 'call of Secrets Manager', 'undated'),
  alarmMetric: flat(0.1, 'metric that an alarm looks at', 'undated'),
  dashboard: flat(3, 'dashboard', 2026),
  metric: flat(0.3, 'custom metric, up to 10,000', 2026),
  logGb: tiers(
    [0, 0.5, 10 * 1024, 0.25, 30 * 1024, 0.1, 50 * 1024, 0.05],
    'GB of logs of functions and APIs taken in',
    2025,
  ),
  logGbKept: flat(0.03, 'GB-month of logs kept, compressed', 'undated'),
  trace: flat(5 / MILLION, 'trace that X-Ray records', 'page'),
  scheduleStart: flat(1 / MILLION, 'start by EventBridge Scheduler', 2026),
} as const satisfies Readonly<Record<string, Price>>;

/** What so many units cost in one month, in USD: each tier charges for the units that lie in it. */
export function costOf({ tiers }: Price, units: number): number {
  return tiers.reduce(
    (usd, tier, position) =>
      usd + Math.max(0, Math.min(units, tiers[position + 1]?.above ?? Infinity) - tier.above) * tier.usd,
    0,
  );
}

function flat(usd: number, unit: string, source: Source): Price {
  return { unit, tiers: [{ above: 0, usd }], source };
}

/** @param pairs above so many units, USD by the unit, and so on */
function tiers(pairs: readonly number[], unit: string, source: Source): Price {
  return {
    unit,
    source,
    tiers: pairs.flatMap((above, position) => (position % 2 === 0 ? [{ above, usd: pairs[position + 1] ?? 0 }] : [])),
  };
}
