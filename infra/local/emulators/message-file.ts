import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FauxqsFile } from './fauxqs-parts.ts';

const RELEASE = 'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL';

/**
 * Mends how fauxqs keeps queues on disk.
 *
 * - It waits for the disk four times for each message; on one machine it is enough that what was written survives the
 *   process (`kill -9`), as with the offsets in DynamoDB here.
 * - Giving a message back (visibility 0) failed, since it tried to forget how often it was received.
 *
 * @param prototype of what keeps queues in a file
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

/** Makes visible what an earlier run's receivers hold in the file, if there is one: all of them ended with it. */
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
