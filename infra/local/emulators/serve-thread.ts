import { parentPort } from 'node:worker_threads';
import type { RightsByKey } from '../iam/rights.ts';
import type { FromService, ToService } from './thread-messages.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
export const tellStack = (message: FromService): void => parentPort?.postMessage(message);

/** Says where the service of this thread is, and does from then on what the stack says. */
export function serveThread(
  url: string,
  { setRights, close }: { setRights(rights: RightsByKey): unknown; close(): Promise<unknown> },
): void {
  parentPort?.on('message', async (message: ToService) => {
    if (message === 'stop') {
      await close();
      parentPort?.close();
      return;
    }
    try {
      await setRights(message.rights);
      tellStack({ id: message.id });
    } catch (error) {
      tellStack({ id: message.id, unjudged: error instanceof Error ? error.message : String(error) });
    }
  });
  tellStack({ url });
}
