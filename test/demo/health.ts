import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupHealth } from '../../shared/store/datastore.ts';

/** Ample for a stack on one machine, short for somebody waiting. */
const TIMEOUT_MS = 5000;

/** A stack may be busy for a moment, or answer with one node out of sight. */
const ATTEMPTS = 3;
const PAUSE_MS = 300;

/** The health of the stack at a URL; undefined when nothing there answers as one. */
export async function health(url: string): Promise<readonly GroupHealth[] | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const response = await fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      const { groups } = (await response.json()) as { readonly groups?: readonly GroupHealth[] };
      if (Array.isArray(groups)) return groups;
    } catch {
      // Nothing listens there, or something else does.
    }
    if (attempt < ATTEMPTS) await sleep(PAUSE_MS);
  }
  return undefined;
}

/** Whether a reader of any group answers. */
export function anyReader(groups: readonly GroupHealth[]): boolean {
  return groups.some((group) => group.reader.state === 'up' && group.reader.served_by === 'reader');
}
