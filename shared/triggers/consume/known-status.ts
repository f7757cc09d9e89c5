import { ageOf, moment, type Moment } from '../../time.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import type { TriggerStatus } from '../state/trigger-store.ts';

export type KnownStatus = ReturnType<typeof knownStatus>;

export function knownStatus(store: Pick<TriggerStore, 'status'>, maxAgeMs: number, failed: (error: unknown) => void) {
  let known: TriggerStatus | undefined;
  let readAt: Moment | undefined;
  let reading: Promise<TriggerStatus> | undefined;

  async function ask(): Promise<TriggerStatus> {
    const begunAt = moment();
    try {
      known = await store.status();
    } catch (error) {
      failed(error);
      if (!known) throw error;
    } finally {
      reading = undefined;
      readAt = begunAt;
    }
    return known;
  }

  return {
    /** Returns a status at most `maxAgeMs` old, or the last known one if it cannot be read. Throws if none is known. */
    async read(): Promise<TriggerStatus> {
      if (known && readAt && ageOf(readAt) < maxAgeMs) return known;
      reading ??= ask();
      return reading;
    },
    /** Makes the next `read` ask again. */
    forget(): void {
      readAt = undefined;
    },
  };
}
