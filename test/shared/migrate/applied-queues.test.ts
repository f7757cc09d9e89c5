import { expect, it } from 'vitest';
import { appliedQueuePrefix } from '../../../shared/granted-names.ts';
import { appliedQueueName } from '../../../shared/migrate/applied-queues.ts';

const LONGEST = 'a'.repeat(30);
/** As `storeEnvironment` takes them: words joined by single hyphens. */
const NAMES = ['trips', 'trips-prod', 'trips-prod-2', 'a', 'a-b', LONGEST];

it('what a store may do with its queues by their prefix reaches none of another one', () => {
  for (const name of NAMES) {
    const reached = NAMES.filter((other) =>
      appliedQueueName(other, 'prod', 'bill_rider', '').startsWith(appliedQueuePrefix(name)),
    );
    expect(reached).toEqual([name]);
  }
});

it('a queue has a name that SQS takes, however long the names are that it is made of', () => {
  for (const name of NAMES)
    for (const end of ['', '-dead'] as const)
      expect(appliedQueueName(name, 'd'.repeat(48), 't'.repeat(48), end)).toMatch(/^[\w-]{1,75}\.fifo$/u);
});
