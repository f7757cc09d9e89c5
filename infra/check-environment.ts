import { MAX_TAILERS, type EnvironmentProps } from './environments.ts';

/** Refuses an environment whose parts do not go together. Throws an `Error` that names the one at fault. */
export function checkEnvironment(environment: EnvironmentProps): void {
  const { name, groups, bufferCopies, tailers, access, functionsInVpc } = environment;
  const most = Math.max(0, groups - 2);
  if (bufferCopies > most) throw new Error(`${name}.bufferCopies: wanted at most ${most} with ${groups} groups (groups - 2), got ${bufferCopies}`);
  if (!Number.isInteger(tailers) || tailers < 1 || tailers > MAX_TAILERS) throw new Error(`${name}.tailers: wanted a whole number from 1 to ${MAX_TAILERS}, got ${tailers}`);
  if (access === 'mysql' && !functionsInVpc && name !== 'local') {
    throw new Error(`${name}.functionsInVpc: wanted true with access mysql, which reaches the clusters inside their VPC, got false`);
  }
  if (access === 'data-api' && functionsInVpc) {
    throw new Error(`${name}.functionsInVpc: wanted false with access data-api, to which the VPC has no way, got true`);
  }
}
