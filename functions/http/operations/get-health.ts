import { randomUUID } from 'node:crypto';
import type { GroupHealth } from '../../../shared/contract/datastore.ts';
import { VERSION } from '../../../shared/version.ts';
import { RETRY_AFTER } from '../problem.ts';
import type { HttpOperation } from './operation.ts';

/** Tells the instances of a function apart: what one sees of a group, another need not. */
const INSTANCE = randomUUID();

/** GET /v1/health: the groups as the answering instance sees them. 503 when none of them answers. */
export const getHealth: HttpOperation = async (request, deployment) => {
  request.query();
  const groups = await deployment.health();
  const status = summary(groups);
  const down = status === 'down';
  return {
    status: down ? 503 : 200,
    body: { status, version: VERSION, instance: INSTANCE, groups },
    retryAfter: down ? RETRY_AFTER : undefined,
  };
};

function summary(groups: readonly GroupHealth[]): 'ok' | 'degraded' | 'down' {
  const nodes = groups.flatMap((group) => [group.writer, group.reader]);
  if (nodes.every((node) => node.state === 'down')) return 'down';
  return nodes.every((node) => node.state === 'up') ? 'ok' : 'degraded';
}
