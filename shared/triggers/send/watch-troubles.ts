import { nowAndThen } from '../../now-and-then.ts';
import type { TailWork } from './tail-work.ts';

/**
 * Tells now and then what of a trigger waits for an operator, for as long as it does, for all workers: one of them does
 * it for all. Until the signal.
 */
export async function watchTroubles(
  work: Pick<TailWork, 'store' | 'settings' | 'report'>,
  signal: AbortSignal,
): Promise<void> {
  const { store, report } = work;
  const look = async (): Promise<void> => {
    const [{ state, troubled }, malformed] = await Promise.all([store.status(), store.malformed()]);
    const shards = await store.shards(troubled);
    const parked = shards.flatMap(({ cells }) => cells.filter(({ parked_at }) => parked_at !== undefined));
    report({ kind: 'troubles', isStopped: state === 'stopped', parked: parked.length, malformed: malformed.length });
  };
  const failed = (error: unknown): void =>
    work.report({ kind: 'failed', what: 'looking what waits for an operator', error });
  await nowAndThen({ everyMs: work.settings.lagEveryMs, look, failed }, signal);
}
