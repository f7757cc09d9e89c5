import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { CONTROL_STEPS, SHARD_STEPS } from '../../../shared/migrate/steps.ts';

/** The digest of each step when it was released: stores that took it would never take a changed one. */
const RELEASED = {
  control: [
    '5b356bac6402f19c',
    'f6db43baa9b35d14',
    '23e2593a71bb00a3',
    '117e83db958124a8',
    '04a83a5552d6e2b8',
    '0f458356d5599b07',
    '2875290d4e8943ba',
    '1ca6e5446f32de89',
  ],
  shard: ['b5cc355f25d08404'],
};

it('released steps of the schema never change', () => {
  const digest = (step: unknown): string =>
    createHash('sha256').update(JSON.stringify(step)).digest('hex').slice(0, 16);
  expect({
    control: CONTROL_STEPS.map(digest),
    shard: SHARD_STEPS.map((step) => digest(step('`trips_0000`'))),
  }).toEqual(RELEASED);
});
