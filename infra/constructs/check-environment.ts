import { Token } from 'aws-cdk-lib';
import { GATEWAY_ROUTES } from '../../shared/api/operations.ts';
import { describe } from '../../shared/errors.ts';
import { connectionBudget } from './connection-budget.ts';
import {
  MAX_TAILERS,
  MOST_GROUPS,
  MOST_KEPT_MINUTES,
  MOST_KEY_DAYS,
  type StoreEnvironment,
} from './store-environment.ts';

/** Throws an `Error` that names the option which does not fit. */
export function checkEnvironment(environment: StoreEnvironment): void {
  const { name, groups, bufferCopies, tailers, access, proxy, databaseAuth, functionsInVpc } = environment;
  const { groupsInFirstStack = groups, keepCopiesMinutes: kept = 0, keyDays = MOST_KEY_DAYS } = environment;
  wholeNumber(`${name}.groups`, groups, 1, MOST_GROUPS);
  wholeNumber(`${name}.groupsInFirstStack`, groupsInFirstStack, 1, MOST_GROUPS);
  wholeNumber(`${name}.bufferCopies`, bufferCopies, 0, Math.max(0, groups - 2));
  if (bufferCopies === 0 && kept !== 0)
    throw new Error(`${name}.keepCopiesMinutes: wanted 0, since no write is copied, got ${kept}`);
  wholeNumber(`${name}.keepCopiesMinutes`, kept, 0, MOST_KEPT_MINUTES);
  wholeNumber(`${name}.keyDays`, keyDays, 1, MOST_KEY_DAYS);
  wholeNumber(`${name}.tailers`, tailers, 1, MAX_TAILERS);
  if (access === 'mysql' && !functionsInVpc && name !== 'local') {
    throw new Error(
      `${name}.functionsInVpc: wanted true with access mysql, which reaches the clusters inside their VPC, got false`,
    );
  }
  if (access === 'data-api' && functionsInVpc) {
    throw new Error(`${name}.functionsInVpc: wanted false with access data-api, to which the VPC has no way, got true`);
  }
  if (proxy && access !== 'mysql')
    throw new Error(`${name}.proxy: wanted false with access ${access}, which goes through none, got true`);
  if (databaseAuth === 'iam' && !proxy)
    throw new Error(`${name}.databaseAuth: wanted secret without a proxy, which checks the tokens, got iam`);
  checkBackups(environment);
  checkEdge(environment);
  checkConnections(environment);
}

const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/u;
const CERTIFICATE = /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/u;

function checkEdge({ name, throttle, routeThrottles = {}, domain }: StoreEnvironment): void {
  for (const [operation, of] of Object.entries(routeThrottles)) {
    if (!GATEWAY_ROUTES.some((route) => route.operation === operation))
      throw new Error(
        `${name}.routeThrottles: wanted operations such as ${GATEWAY_ROUTES.slice(0, 3)
          .map((route) => route.operation)
          .join(', ')}, got ${operation}`,
      );
    for (const key of ['ratePerSecond', 'burst'] as const)
      if (!Number.isInteger(of[key]) || of[key] < 1 || of[key] > throttle[key])
        throw new Error(
          `${name}.routeThrottles.${operation}.${key}: wanted a whole number from 1 to ${throttle[key]}, that of all routes, got ${of[key]}`,
        );
  }
  if (!domain) return;
  if (!DOMAIN.test(domain.name))
    throw new Error(`${name}.domain.name: wanted a name such as trips.example.com, got ${domain.name}`);
  if (!Token.isUnresolved(domain.certificateArn) && !CERTIFICATE.test(domain.certificateArn))
    throw new Error(
      `${name}.domain.certificateArn: wanted that of a certificate of ACM, arn:aws:acm:REGION:ACCOUNT:certificate/ID, got ${domain.certificateArn}`,
    );
}

const MOST_BACKUP_DAYS = 36_500;
const VAULT = /^arn:aws[a-z-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]{2,50}$/u;

function checkBackups({ name, backups }: StoreEnvironment): void {
  if (!backups) return;
  const { keepDays, copyTo } = backups;
  wholeNumber(`${name}.backups.keepDays`, keepDays, 1, MOST_BACKUP_DAYS);
  if (copyTo !== undefined && !VAULT.test(copyTo))
    throw new Error(
      `${name}.backups.copyTo: wanted the ARN of a vault, arn:aws:backup:REGION:ACCOUNT:backup-vault:NAME, got ${copyTo}`,
    );
}

/** Rejects functions that could take all of a group's connections. */
function checkConnections(environment: StoreEnvironment): void {
  const budget = connectionBudget(environment);
  if (!budget || budget.wanted <= budget.allowed) return;
  const sum = budget.shares
    .map(({ name, instances, connections }) => `${name} ${instances} x ${connections}`)
    .join(', ');
  throw new Error(
    `${environment.name}.instances: wanted at most ${budget.allowed} connections to a group with a capacity of ${environment.capacity.max} ACU, got ${budget.wanted} (${sum})`,
  );
}

/** Returns the value. Throws an Error that names the field if it is out of range. */
export function wholeNumber(field: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  const wanted = min === max ? `${min}` : `a whole number from ${min} to ${max}`;
  throw new Error(`${field}: wanted ${wanted}, got ${describe(value)}`);
}
