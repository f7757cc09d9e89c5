import { comesWithin } from './comes-within.ts';
import type { ProcessPause } from './process-pause.ts';

interface HealthCheckOptions {
  readonly probe: () => Promise<unknown>;
  readonly timeoutMs: number;
  readonly processPause: ProcessPause;
  /** When any statement was last answered: that passes the health check too. */
  readonly answeredAt: () => number;
}

/** Returns whether a health check succeeds. Repeats a probe that this process slept through. */
export async function healthCheck({
  probe,
  timeoutMs,
  processPause,
  answeredAt,
}: HealthCheckOptions): Promise<boolean> {
  for (;;) {
    const begun = performance.now();
    if ((await comesWithin(timeoutMs, probe())) || answeredAt() > begun) return true;
    if (!processPause.since(begun)) return false;
  }
}
