import type { SqlClient } from './client.ts';
import { dropNotifications } from './statements/notifications.ts';

/** One of so many notifications deletes old ones: more than came since. */
const NOTIFICATIONS_A_DROP = 100;

/** Drops old notifications once in a while, by chance: short-lived clients do their part. Nothing waits for it. */
export function dropOldNotifications(client: SqlClient, newest: number): void {
  if (newest > 0 && Math.random() * NOTIFICATIONS_A_DROP < 1)
    client.change(dropNotifications(newest)).catch(() => undefined);
}
