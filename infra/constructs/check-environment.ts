import { connectionBudget } from './connection-budget.ts';
import { MAX_TAILERS, MOST_KEPT_MINUTES, type StoreEnvironment } from './store-environment.ts';

/** Refuses an environment whose parts do not go together. Throws an `Error` that names the one at fault. */
export function checkEnvironment(environment: StoreEnvironment): void {
  const { name, groups, bufferCopies, tailers, access, proxy, databaseAuth, functionsInVpc } = environment;
  const most = Math.max(0, groups - 2);
  if (bufferCopies > most)
    throw new Error(
      `${name}.bufferCopies: wanted at most ${most} with ${groups} groups (groups - 2), got ${bufferCopies}`,
    );
  const { keepCopiesMinutes: kept = 0 } = environment;
  const mostKept = bufferCopies > 0 ? MOST_KEPT_MINUTES : 0;
  if (!Number.isInteger(kept) || kept < 0 || kept > mostKept)
    throw new Error(
      `${name}.keepCopiesMinutes: wanted ${mostKept === 0 ? '0, since no write is copied' : `a whole number from 0 to ${mostKept}`}, got ${kept}`,
    );
  if (!Number.isInteger(tailers) || tailers < 1 || tailers > MAX_TAILERS)
    throw new Error(`${name}.tailers: wanted a whole number from 1 to ${MAX_TAILERS}, got ${tailers}`);
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
  checkConnections(environment);
}

/** Refuses functions that could take all of a group's connections, with the sum. */
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
