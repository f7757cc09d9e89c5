import { ENVIRONMENTS, type EnvironmentProps } from '../environments.ts';
import { ASSUMPTIONS, type Assumptions } from './assumptions.ts';
import { capacityFor } from './capacity.ts';
import { sideBySideTable } from './elsewhere/side-by-side.ts';
import { loadOn, RATES } from './load.ts';
import type { Plan } from './plan.ts';
import { costTable, limitTable, needsTable, priceTable, restTable } from './table.ts';

/** Those of the datastore that comes with the project, in production. */
export const PROD_SHARDS = 4096;

function shardsOf({ shards }: EnvironmentProps): number {
  return shards['trips'] ?? PROD_SHARDS;
}

/** What the environments cost while nobody asks for anything. */
export function plansAtRest(assumptions: Assumptions = ASSUMPTIONS): {
  readonly dev: Plan;
  readonly devPaused: Plan;
  readonly small: Plan;
  readonly smallPaused: Plan;
  readonly staging: Plan;
  readonly prod: Plan;
} {
  const atRest = (environment: EnvironmentProps): Plan =>
    capacityFor(loadOn(environment, shardsOf(environment), 0), assumptions);
  const { dev, small, staging, prod } = ENVIRONMENTS;
  return {
    dev: atRest(dev),
    devPaused: atRest({ ...dev, schedules: false }),
    small: atRest(small),
    smallPaused: atRest({ ...small, schedules: false }),
    staging: atRest(staging),
    prod: atRest(prod),
  };
}

/**
 * The tables of `infra/docs/operations/capacity.md`, by the names of their markers.
 *
 * @param rates writes a second, one column each @default RATES
 */
export function tables(
  rates: readonly number[] = RATES,
  assumptions: Assumptions = ASSUMPTIONS,
): Readonly<Record<string, string>> {
  const plansOf = (environment: EnvironmentProps): readonly Plan[] =>
    rates.map((rate) => capacityFor(loadOn(environment, shardsOf(environment), rate), assumptions));
  const plans = plansOf(ENVIRONMENTS.prod);
  const { dev, devPaused, small, smallPaused, staging, prod } = plansAtRest(assumptions);
  return {
    needs: needsTable(plans),
    cost: costTable(plans),
    rest: restTable({
      '`dev`': dev,
      '`dev` without schedules': devPaused,
      '`small`': small,
      '`small` without schedules': smallPaused,
      '`staging`': staging,
      '`prod`': prod,
    }),
    elsewhere: sideBySideTable(
      {
        '`dev`': plansOf(ENVIRONMENTS.dev),
        '`small`': plansOf(ENVIRONMENTS.small),
        '`staging`': plansOf(ENVIRONMENTS.staging),
        '`prod`': plans,
      },
      '`prod`',
    ),
    limits: limitTable(plans),
    prices: priceTable(),
  };
}

/**
 * The text with each table in place of what is between its markers, `<!-- needs -->` and `<!-- /needs -->`.
 *
 * @throws Error for a table without markers
 */
export function withTables(text: string, made = tables()): string {
  return Object.entries(made).reduce((before, [name, table]) => {
    const between = new RegExp(`(?<=<!-- ${name} -->\\n)[\\s\\S]*?(?=<!-- /${name} -->)`, 'u');
    if (!between.test(before))
      throw new Error(`${name}: wanted <!-- ${name} --> and <!-- /${name} --> around its table, got neither or one`);
    return before.replace(between, () => `${table}\n`);
  }, text);
}
