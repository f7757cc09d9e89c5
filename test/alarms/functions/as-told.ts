import { setTimeout as sleep } from 'node:timers/promises';
import { triggerHandler, type TriggerHandler } from '../../../functions/triggers/trigger-handler.ts';

export type Mood = 'well' | 'slow' | 'failing' | 'crashing';

/** The row of the datastore `work` that holds the moods: each is the latest cell of its trigger's column. */
export const MOODS = { datastore: 'work', row_key: '00000000-0000-4000-8000-000000000000' } as const;

export function moodColumn(trigger: string): string {
  return `MOOD OF ${trigger}`;
}

const SLOW_MS = 10_000;

export function asTold(trigger: string): TriggerHandler {
  return triggerHandler(trigger, async (_rowKey, _message, store) => {
    const { row_key } = MOODS;
    const { cell } = await store.getLatest({ row_key, column_name: moodColumn(trigger) });
    if (cell?.body === 'slow') await sleep(SLOW_MS);
    if (cell?.body === 'failing') throw new Error('it fails, as it was told');
    // As one that takes more memory than it has.
    if (cell?.body === 'crashing') process.exit(1);
  });
}
