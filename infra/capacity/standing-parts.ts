import { DATABASE_USERS, STORE_USERS } from '../../shared/topology/database-users.ts';
import { ZONES_UNNAMED, zonesFor } from '../constructs/zones.ts';
import type { Load } from './load.ts';

/** What is deployed and paid for by time, whoever writes. */
export interface StandingParts {
  readonly secrets: number;
  /** Interface endpoints, once for each availability zone. */
  readonly endpoints: number;
  /** Metrics that alarms look at. */
  readonly alarmMetrics: number;
  readonly dashboards: number;
  readonly schedules: number;
}

/** How many availability zones the network of an environment is in. */
export function zonesIn({ region, zones }: Load['environment']): number {
  return zonesFor(region, zones)?.length ?? ZONES_UNNAMED;
}

/** Secrets Manager and SQS. */
const ENDPOINTS = 2;
const ALARMS_OF_A_GROUP = 4;
const ALARMS_OF_A_PROXY = 1;
const ALARMS_OF_READERS = 1;
/**
 * Of the store: buffer, logs, lags, circuits, moves, API (one of two metrics), functions, triggers as a whole; and of
 * each trigger.
 */
const ALARMS_OF_THE_STORE = 39;
const ALARMS_OF_A_TRIGGER = 4;
/** Of the function that makes datastores on request, where there is one. */
const ALARMS_OF_DEFINING = 2;
/** Drain, repair, mover and tailers: that they are started. */
const LOOPS = 4;

/**
 * The parts of an environment's template, by its description. A test compares them with the templates.
 *
 * @param triggers of all datastores, each with a function
 */
export function standingPartsOf(
  { environment }: Pick<Load, 'environment'>,
  groups: number,
  tailers: number,
  triggers: number,
): StandingParts {
  const { readersPerGroup, functionsInVpc, proxy, schedules, definedByApi } = environment;
  return {
    // Of some there is one for all.
    secrets: groups * (DATABASE_USERS.length - STORE_USERS.length) + STORE_USERS.length,
    endpoints: functionsInVpc ? ENDPOINTS * zonesIn(environment) : 0,
    alarmMetrics:
      ALARMS_OF_THE_STORE +
      (definedByApi ? ALARMS_OF_DEFINING : 0) +
      triggers * ALARMS_OF_A_TRIGGER +
      groups * (ALARMS_OF_A_GROUP + (proxy ? ALARMS_OF_A_PROXY : 0) + (readersPerGroup > 0 ? ALARMS_OF_READERS : 0)) +
      (schedules ? LOOPS : 0),
    dashboards: 1,
    schedules: schedules ? LOOPS - 1 + tailers : 0,
  };
}
