import { expect, it } from 'vitest';
import { isSameQueue } from '../../../../shared/triggers/state/queues.ts';

it.each([
  [
    'at another port, as after a restart of a local stack',
    'http://127.0.0.1:4100/000000000000/bill.fifo',
    'http://127.0.0.1:9300/000000000000/bill.fifo',
    true,
  ],
  [
    'of another name',
    'https://sqs.eu-west-1.amazonaws.com/1/bill.fifo',
    'https://sqs.eu-west-1.amazonaws.com/1/bill-2.fifo',
    false,
  ],
  [
    'of another account',
    'https://sqs.eu-west-1.amazonaws.com/1/bill.fifo',
    'https://sqs.eu-west-1.amazonaws.com/2/bill.fifo',
    false,
  ],
  ['that is not known', undefined, 'https://sqs.eu-west-1.amazonaws.com/2/bill.fifo', false],
])('a queue %s is the same or not', (_what, one, other, isSame) => {
  expect(isSameQueue(one, other)).toBe(isSame);
});
