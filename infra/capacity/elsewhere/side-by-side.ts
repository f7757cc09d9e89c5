import { limitsOf } from '../limits.ts';
import type { Plan } from '../plan.ts';
import { rateOf, table, usd, type Row } from '../table.ts';
import { dynamoDbFor } from './dynamodb.ts';
import { dsqlFor } from './dsql.ts';
import type { Elsewhere } from './elsewhere.ts';

interface Other {
  readonly name: string;
  readonly of: (plan: Plan) => Elsewhere;
  /** In the rows of what each month of cells adds. @default not there: another one has it */
  readonly stored?: string;
}

const OTHERS: readonly Other[] = [
  {
    name: 'DynamoDB on demand, index over all versions',
    of: (plan) => dynamoDbFor(plan, { capacity: 'on-demand', finds: 'versions' }),
    stored: 'DynamoDB, index over all versions',
  },
  {
    name: 'DynamoDB on demand, index over the latest',
    of: (plan) => dynamoDbFor(plan, { capacity: 'on-demand', finds: 'latest' }),
    stored: 'DynamoDB, index over the latest',
  },
  {
    name: 'DynamoDB provisioned, index over all versions',
    of: (plan) => dynamoDbFor(plan, { capacity: 'provisioned', finds: 'versions' }),
  },
  {
    name: 'DynamoDB provisioned, index over the latest',
    of: (plan) => dynamoDbFor(plan, { capacity: 'provisioned', finds: 'latest' }),
  },
  { name: 'Aurora DSQL, index over the latest', of: dsqlFor, stored: 'Aurora DSQL' },
];

/**
 * The environments with what stands in front of them, then one of them without that, beside the same in other
 * databases; last, what each month of cells adds. In brackets what exceeds a limit.
 *
 * @param environments a plan for each rate
 * @param compared the name of one of them
 */
export function sideBySideTable(environments: Readonly<Record<string, readonly Plan[]>>, compared: string): string {
  const plans = environments[compared] ?? [];
  const inFront = ({ bill }: Plan): number => bill.reduce((sum, line) => sum + (line.inFront ? line.usd : 0), 0);
  const storedHere = ({ bill, assumptions }: Plan): number =>
    (bill.find(({ name }) => name === 'Aurora: storage')?.usd ?? 0) / assumptions.monthsKept;
  const rows: readonly Row[] = [
    ...Object.entries(environments).map(([name, of]): Row => [
      `${name}, all of it`,
      ...of.map((plan) => cell(plan.monthlyUsd, isExceeded(plan))),
    ]),
    [`in front of ${compared}, as of the others`, ...plans.map((plan) => usd(inFront(plan)))],
    [
      `**${compared} without that**`,
      ...plans.map((plan) => bold(cell(plan.monthlyUsd - inFront(plan), isExceeded(plan)))),
    ],
    ...OTHERS.map(({ name, of }): Row => [
      `**${name}**`,
      ...plans.map(of).map((other) => bold(cell(other.monthlyUsd, other.isExceeded))),
    ]),
    [`each month of cells adds: ${compared}`, ...plans.map((plan) => usd(storedHere(plan)))],
    ...OTHERS.flatMap(({ stored, of }): readonly Row[] =>
      stored ? [[`each month of cells adds: ${stored}`, ...plans.map((plan) => usd(of(plan).storedUsd))]] : [],
    ),
  ];
  return table(['USD a month, by writes a second', ...plans.map(rateOf)], rows);
}

function isExceeded(plan: Plan): boolean {
  return limitsOf(plan).some((limit) => limit.isExceeded);
}

function cell(amount: number, isExceeded: boolean): string {
  return isExceeded ? `(${usd(amount)})` : usd(amount);
}

function bold(text: string): string {
  return `**${text}**`;
}
