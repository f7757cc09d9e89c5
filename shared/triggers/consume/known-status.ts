import { ageOf, moment, type Moment } from '../../time.ts';
import type { TriggerStatus, TriggerStore } from '../state/trigger-store.ts';

export interface KnownStatus {
  /** At most `maxAgeMs` old; when it cannot be read, the last one that was known. Throws when none is. */
  read(): Promise<TriggerStatus>;
  /** The next `read` asks again. */
  forget(): void;
}

/** @param failed is told when it cannot be read */
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
