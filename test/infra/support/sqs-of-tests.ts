import type { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import type { Emulator } from '../../../infra/local/emulators/emulator.ts';
import { startSqs } from '../../../infra/local/emulators/sqs.ts';
import { sqsClient } from './fifo-queue.ts';
import { folderOfTests } from './folder-of-tests.ts';

/** SQS for the tests of a file. Messages come back when a test advances the clock. */
export function sqsOfTests(): { readonly sqs: Emulator; readonly client: SQSClient } {
  const folder = folderOfTests();
  const parts = {} as { sqs: Emulator; client: SQSClient };
  beforeAll(async () => {
    parts.sqs = await startSqs(folder.path, 0);
    parts.client = sqsClient(parts.sqs.url);
  });
  afterAll(async () => {
    parts.client?.destroy();
    await parts.sqs?.close();
  });
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());
  return parts;
}
