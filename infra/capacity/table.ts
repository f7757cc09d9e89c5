import type { Plan } from './plan.ts';
import { GB, PRICES, SECONDS_A_MONTH, SOURCES, type Price } from './prices.ts';
import { limitsOf } from './limits.ts';

export type Row = readonly [name: string, ...cells: string[]];

/** What each load needs, by its rate; the last row names each limit that it exceeds. */
export function needsTable(plans: readonly Plan[]): string {
  const rows: readonly (readonly [string, (plan: Plan) => string])[] = [
    ['requests to the API, /s', ({ traffic }) => figure(traffic.requests)],
    ['groups, nodes', ({ database }) => `${database.groups}, ${database.nodes}`],
    ['writes of a group, /s', ({ database }) => figure(database.writesPerGroup)],
    ['ACUs of a writer, of a group', ({ database }) => `${figure(database.writerAcu)}, ${figure(database.groupAcu)}`],
    [
      '`capacity.max`, with its `max_connections`',
      ({ database }) => `${database.maxAcu}, ${figure(database.maxConnections)}`,
    ],
    ['connections of a node', ({ database }) => figure(database.connections)],
    [
      'Lambda at once: writes, reads',
      ({ traffic }) => `${figure(traffic.writeCells.concurrency)}, ${figure(traffic.readCells.concurrency)}`,
    ],
    ["Lambda at once: triggers' functions", ({ traffic }) => figure(traffic.triggerFunctions.concurrency)],
    ['Lambda at once: drain, repair, tailers', ({ traffic }) => figure(traffic.loops.concurrency)],
    ['SQS: sends, receives with deletes, /s', ({ traffic }) => `${figure(traffic.sends)}, ${figure(traffic.receives)}`],
    ['DynamoDB: write units, read units, /s', ({ state }) => `${figure(state.writes)}, ${figure(state.reads)}`],
    ['NAT gateways; interface endpoints by zone', ({ standing }) => `0; ${standing.endpoints}`],
    ['I/O of the storage, million a month', ({ database }) => figure((database.io * SECONDS_A_MONTH) / 1e6)],
    [
      'storage added each month, GB',
      ({ database, assumptions }) => figure(database.storedBytes / assumptions.monthsKept / GB),
    ],
    ['cheaper storage of Aurora', ({ storage }) => (storage === 'standard' ? 'Standard' : 'I/O-Optimized')],
    ['**limits that it exceeds**', (plan) => exceeded(plan)],
  ];
  return byRate(
    plans,
    rows.map(([name, cellOf]): Row => [name, ...plans.map(cellOf)]),
  );
}

/** What each load costs a month, by its rate, line by line. */
export function costTable(plans: readonly Plan[]): string {
  return byRate(plans, costRows(plans));
}

/** What environments cost a month while nobody asks for anything. */
export function restTable(plans: Readonly<Record<string, Plan>>): string {
  return table(['USD a month', ...Object.keys(plans)], costRows(Object.values(plans)));
}

/** Every limit, what each load needs of it, and what to do about it. */
export function limitTable(plans: readonly Plan[]): string {
  const held = plans.map(limitsOf);
  const rows = (held[0] ?? []).map(({ name, unit, raise }, position): Row => {
    const limits = [...new Set(held.map((limits) => limits[position]?.limit ?? 0))];
    const cells = held.map((limits) =>
      limits[position]?.isExceeded ? `**${figure(limits[position].need)}**` : figure(limits[position]?.need ?? 0),
    );
    return [name, `${limits.map(figure).join(' to ')}${unit === '' ? '' : ` ${unit}`}`, ...cells, raise];
  });
  return table(['limit', 'is', ...plans.map(rateOf), 'to raise it'], rows);
}

/** Every price with its source. */
export function priceTable(): string {
  const steps = ({ tiers }: Price): string =>
    tiers.map(({ above, usd }) => `${above === 0 ? '' : `above ${figure(above)}: `}${money(usd)}`).join('; ');
  return table(
    ['a unit', 'USD', 'source'],
    Object.values(PRICES).map((price: Price): Row => [price.unit, steps(price), SOURCES[price.source]]),
  );
}

/** Three digits, or cents: more would promise what an estimate cannot hold. */
export function usd(amount: number): string {
  if (amount !== 0 && amount < 10) return amount.toFixed(2);
  // Below a hundred three digits have cents, and would be rounded twice.
  return (amount < 100 ? Math.round(amount) : Number(amount.toPrecision(3))).toLocaleString('en-US');
}

function costRows(plans: readonly Plan[]): readonly Row[] {
  const names = (plans[0]?.bill ?? []).map(({ name }) => name);
  return [
    ...names.map((name, position): Row => [name, ...plans.map(({ bill }) => usd(bill[position]?.usd ?? 0))]),
    ['**sum**', ...plans.map(({ monthlyUsd }) => `**${usd(monthlyUsd)}**`)],
  ];
}

function exceeded(plan: Plan): string {
  const names = limitsOf(plan).flatMap(({ name, isExceeded }) => (isExceeded ? [name] : []));
  return names.length === 0 ? 'none' : names.join('; ');
}

function byRate(plans: readonly Plan[], rows: readonly Row[]): string {
  return table(['writes a second', ...plans.map(rateOf)], rows);
}

export function rateOf({ load }: Plan): string {
  return figure(load.writesPerSecond);
}

/** As many digits as an estimate deserves: whole from ten on, else one decimal. */
function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** A price, in as many digits as it has; a small one by the million. */
function money(value: number): string {
  return value < 0.001 ? `${money(value * 1e6)} a million` : value.toFixed(4).replace(/\.?0+$/u, '');
}

export function table(header: readonly string[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}
