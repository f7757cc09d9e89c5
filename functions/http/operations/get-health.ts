import { randomUUID } from 'node:crypto';
import { SERVICE, type GroupHealth } from '../../../shared/api/service.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { VERSION } from '../../../shared/version.ts';
import { RETRY_AFTER } from '../problem.ts';
import { answerWith, type Answers } from '../answering.ts';

/** Identifies an instance of the function: instances may see a group differently. */
const INSTANCE = randomUUID();

/** Returns the groups as this instance sees them, with status 503 if no group answers. */
export const HEALTH: Pick<Answers<typeof SERVICE, Deployment>, 'getHealth'> = {
  async getHealth(_asked, _request, deployment) {
    const groups = await deployment.health();
    const status = summary(groups);
    const answer = answerWith(SERVICE.getHealth, { status, version: VERSION, instance: INSTANCE, groups });
    return { ...answer, retryAfter: status === 'down' ? RETRY_AFTER : undefined };
  },
};

function summary(groups: readonly GroupHealth[]): 'ok' | 'degraded' | 'down' {
  const nodes = groups.flatMap((group) => [group.writer, group.reader]);
  if (nodes.every((node) => node.state === 'down')) return 'down';
  return nodes.every((node) => node.state === 'up') ? 'ok' : 'degraded';
}
