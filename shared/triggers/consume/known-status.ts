import { ageOf, moment, type Moment } from '../../time.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import type { TriggerStatus } from '../state/trigger-store.ts';

export interface KnownStatus {
  /** Returns a status at most `maxAgeMs` old, or the last known one if it cannot be read. Throws if none is known. */
  read(): Promise<TriggerStatus>;
  /** Makes the next `read` ask again. */
  forget(): void;
}

export function knownStatus(
  store: Pick<TriggerStore, 'status'>,
  maxAgeMs: number,
  failed: (error: unknown) => void,
): KnownStatus {
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
    async read() {
      if (known && readAt && ageOf(readAt) < maxAgeMs) return known;
      reading ??= ask();
      return reading;
    },
    forget() {
      readAt = undefined;
    },
  };
}
