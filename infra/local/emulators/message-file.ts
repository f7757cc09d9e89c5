import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FauxqsFile } from './fauxqs-parts.ts';

const RELEASE = 'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL';

/**
 * Fixes how fauxqs keeps queues on disk.
 *
 * - It syncs four times for each message; surviving `kill -9` is enough here.
 * - Giving a message back (visibility 0) fails.
 */
export function mendMessageFile(prototype: FauxqsFile): void {
  const { load } = prototype;
  prototype.load = function loadMended(...stores) {
    this.db.exec('PRAGMA synchronous = NORMAL');
    load.apply(this, stores);
  };
  prototype.updateMessageReady = function updateMessageReady(messageId) {
    this.db.prepare(`${RELEASE} WHERE message_id = ?`).run(messageId);
  };
}

/** Makes visible what receivers of an earlier run hold. */
export function releaseMessages(folder: string): void {
  const path = join(folder, 'fauxqs.db');
  if (!existsSync(path)) return;
  const file = new DatabaseSync(path);
  try {
    file.exec(RELEASE);
  } finally {
    file.close();
  }
}
