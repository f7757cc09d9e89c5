import { MADE_USERS } from '../../shared/topology/database-users.ts';
import { canSeal } from '../constructs/can-seal.ts';
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

/** SQS, and Secrets Manager where functions log in with passwords, or seal fields. */
const ENDPOINTS = { iam: 1, secret: 2 };
const ALARMS_OF_A_GROUP = 4;
/** Logins, whether it reaches the writer, and its pool, of two metrics. */
const ALARMS_OF_A_PROXY = 4;
const ALARMS_OF_READERS = 1;
/** Whether it reaches them. */
const ALARMS_OF_PROXIED_READERS = 1;
/**
 * Of the store: buffer, logs, lags, circuits, moves, retention, API (one of three metrics), functions, triggers as a
 * whole, the account's instances and each of three tables (of two metrics); and of each trigger.
 */
const ALARMS_OF_THE_STORE = 49;
const ALARMS_OF_A_TRIGGER = 4;
/** Of the function that makes datastores on request, where there is one. */
const ALARMS_OF_DEFINING = 2;
/** Of the function that changes them, where there is one. */
const ALARMS_OF_PASSWORDS = 1;
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
  const {
    readersPerGroup,
    functionsInVpc,
    proxy,
    databaseAuth,
    schedules,
    definedByApi,
    passwordDays = 0,
  } = environment;
  return {
    // One of each cluster's owner, those of functions that have no tokens, for all groups, and the root key.
    secrets: groups + (databaseAuth === 'iam' ? 0 : MADE_USERS.length) + (canSeal(environment) ? 1 : 0),
    endpoints: functionsInVpc ? ENDPOINTS[environment.sealsFields ? 'secret' : databaseAuth] * zonesIn(environment) : 0,
    alarmMetrics:
      ALARMS_OF_THE_STORE +
      (definedByApi ? ALARMS_OF_DEFINING : 0) +
      (passwordDays > 0 ? ALARMS_OF_PASSWORDS : 0) +
      triggers * ALARMS_OF_A_TRIGGER +
      groups *
        (ALARMS_OF_A_GROUP +
          (proxy ? ALARMS_OF_A_PROXY : 0) +
          (readersPerGroup > 0 ? ALARMS_OF_READERS : 0) +
          (proxy && readersPerGroup > 0 ? ALARMS_OF_PROXIED_READERS : 0)) +
      (schedules ? LOOPS : 0),
    dashboards: 1,
    schedules: schedules ? LOOPS - 1 + tailers : 0,
  };
}
