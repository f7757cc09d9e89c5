import { ASSUMPTIONS, type Assumptions } from './assumptions.ts';
import { billOf } from './bill.ts';
import { databaseOf, groupsOf } from './database.ts';
import type { Load } from './load.ts';
import type { Plan } from './plan.ts';
import { standingPartsOf } from './standing-parts.ts';
import { stateTrafficOf } from './state-table.ts';
import { trafficOf } from './traffic.ts';

/**
 * What a load needs of AWS, and what that costs a month on demand in us-east-1: an estimate until an account of one's
 * own says otherwise. Nothing is rounded; the same load gives the same plan.
 */
export function capacityFor(load: Load, assumptions: Assumptions = ASSUMPTIONS): Plan {
  const groups = groupsOf(load, assumptions);
  const traffic = trafficOf(load, groups, assumptions);
  const needs = {
    load,
    assumptions,
    traffic,
    database: databaseOf(load, traffic, groups, assumptions),
    state: stateTrafficOf(load, traffic, groups, assumptions),
    standing: standingPartsOf(load, groups, traffic.loops.tailers, assumptions.triggers),
  };
  const { storage, bill } = billOf(needs);
  return { ...needs, storage, bill, monthlyUsd: bill.reduce((sum, { usd }) => sum + usd, 0) };
}
