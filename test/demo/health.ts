import { setTimeout as sleep } from 'node:timers/promises';
import { localSigner } from '../../infra/local/login/local-signer.ts';
import type { Sign } from '../../shared/client/sign-request.ts';
import type { GroupHealth } from '../../shared/api/service.ts';

/** Ample for a stack on one machine, short for somebody waiting. */
const TIMEOUT_MS = 5000;

/** A stack may be busy for a moment, or answer with one node out of sight. */
const ATTEMPTS = 3;
const PAUSE_MS = 300;

/** How a stack is. */
interface Health {
  readonly groups: readonly GroupHealth[];
  /** Signs requests, where it takes no others. */
  readonly sign: Sign | undefined;
}

/** The health of the stack at a URL; undefined when nothing there answers as one. */
export async function health(url: string): Promise<Health | undefined> {
  const healthUrl = new URL(`${url}/v1/health`);
  let sign: Sign | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const headers = await sign?.({ method: 'GET', url: healthUrl, headers: {}, body: undefined });
      const response = await fetch(healthUrl, { ...(headers && { headers }), signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.status === 403) sign = localSigner();
      const { groups } = (await response.json()) as { readonly groups?: readonly GroupHealth[] };
      if (Array.isArray(groups)) return { groups, sign };
    } catch {
      // Nothing listens there, or something else does.
    }
    if (attempt < ATTEMPTS) await sleep(PAUSE_MS);
  }
  return undefined;
}

export function anyReader(groups: readonly GroupHealth[]): boolean {
  return groups.some((group) => group.reader.state === 'up' && group.reader.served_by === 'reader');
}
