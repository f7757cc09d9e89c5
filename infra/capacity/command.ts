/**
 * `npm run capacity -- [WRITES …]`: what environments cost, and which rates their connections allow. Estimates, since
 * nothing was measured on AWS; the tables are those of `infra/docs/operations/capacity.md`.
 */
import { parseArgs } from 'node:util';
import { type Bill, millionReads, millionWrites, restOf, sumOf } from './bill.ts';
import { managedOf, planOf } from './plan.ts';
import { loopSlots } from '../constructs/connection-budget.ts';
import { ENVIRONMENTS, type EnvironmentProps } from '../environments.ts';

const RATES = [100, 1000, 10_000, 100_000] as const;

export function tables(rates: readonly number[] = RATES): readonly string[] {
  const { dev, small, staging, prod } = ENVIRONMENTS;
  const off = (environment: EnvironmentProps): EnvironmentProps => ({ ...environment, schedules: false });
  const each = (work: (environment: EnvironmentProps) => Bill): Readonly<Record<string, Bill>> =>
    Object.fromEntries([dev, small, staging, prod].map((one) => [`\`${one.name}\``, work(one)]));
  const plans = rates.map((writes) => planOf(prod, writes));
  const row = (name: string, of: (plan: (typeof plans)[number]) => string): readonly string[] => [
    name,
    ...plans.map(of),
  ];
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
        row('environments', ({ environments }) => String(environments)),
        row('`groups` of each', ({ changed }) => String(changed.groups)),
        row('`instances` of `write-cells`, `read-cells`', ({ changed: { instances } }) =>
          [instances['write-cells'], instances['read-cells']].join(', '),
        ),
        row('`tailers`', ({ changed }) => String(changed.tailers)),
        row('runs of drain, of maintenance', ({ changed }) => String(loopSlots({ ...prod, ...changed }))),
        row('`throttle`, burst', ({ changed: { throttle } }) =>
          [raised(throttle.ratePerSecond, 10_000), raised(throttle.burst, 5000)].join('; '),
        ),
        row('`triggerConcurrency`', ({ changed }) => changed.triggerConcurrency.toLocaleString('en-US')),
        row('concurrent executions', ({ concurrency }) => raised(concurrency, 1000)),
        row('connections to a writer', ({ connections }) => connections.toLocaleString('en-US')),
        row('`capacity.max`', ({ changed }) => String(changed.capacity.max)),
        row('USD a month', ({ monthlyUsd }) => usd(monthlyUsd)),
      ],
    ),
    managedTable(prod, rates),
  ];
}

/** Bold above the default quota. */
function raised(amount: number, quota: number): string {
  const text = amount.toLocaleString('en-US');
  return amount > quota ? `**${text}**` : text;
}

/** Compares an environment with itself on Lambda Managed Instances. */
function managedTable(environment: EnvironmentProps, rates: readonly number[]): string {
  const ways = [environment, managedOf(environment)];
  const row = (name: string, of: (way: EnvironmentProps) => string): readonly string[] => [name, ...ways.map(of)];
  return table(
    [`\`${environment.name}\`, USD a month; connections`, 'on demand', 'managed'],
    [
      row('idle', (way) => usd(sumOf(restOf(way)))),
      ...rates.map((writes) =>
        row(`at ${writes.toLocaleString('en-US')} writes/s`, (way) => {
          const { monthlyUsd, connections } = planOf(way, writes);
          return `${usd(monthlyUsd)}; ${connections.toLocaleString('en-US')}`;
        }),
      ),
    ],
  );
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
