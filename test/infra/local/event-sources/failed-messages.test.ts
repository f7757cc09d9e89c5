import { describe, expect, it } from 'vitest';
import { failedMessages } from '../../../../infra/local/event-sources/poll-queue.ts';

const BATCH = new Set(['1', '2', '3']);

describe('the answer to a batch', () => {
  it.each([
    ['null', []],
    ['{}', []],
    ['"done"', []],
    ['{"batchItemFailures":null}', []],
    ['{"batchItemFailures":[]}', []],
    ['{"batchItemFailures":[{"itemIdentifier":"2"},{"itemIdentifier":"3"}]}', ['2', '3']],
    ['{"batchItemFailures":[{"itemIdentifier":"4"}]}', ['1', '2', '3']],
    ['{"batchItemFailures":[{"itemIdentifier":""}]}', ['1', '2', '3']],
    ['{"batchItemFailures":[{"itemIdentifier":null}]}', ['1', '2', '3']],
    ['{"batchItemFailures":[{"messageId":"2"}]}', ['1', '2', '3']],
    ['{"batchItemFailures":"2"}', ['1', '2', '3']],
  ])('%s means that %j failed', (answer, failed) => {
    expect([...failedMessages(answer, BATCH)]).toEqual(failed);
  });
});
