import { randomUUID } from 'node:crypto';
import { metricsOf } from '../alarm.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { Cure } from '../alarm-case.ts';

const KILL_EVERY_SECONDS = 15;
const NO_MESSAGES = JSON.stringify({ Records: [] });

/** The instances of every function end while they are called. */
export async function crashingInstances(world: AlarmWorld): Promise<Cure> {
  const { functions } = world.stack;
  const watched = new Set(
    world.alarms.flatMap(({ looksAt }) => metricsOf(looksAt).map(({ dimensions }) => dimensions['FunctionName'])),
  );
  const called = functions.status().filter(({ arn }) => watched.has(arn.slice(arn.lastIndexOf(':') + 1)));
  const end = world.again(KILL_EVERY_SECONDS, () =>
    Promise.all(
      called.map(async ({ title, arn }) => {
        const call = functions.invoke(arn, NO_MESSAGES).catch(() => undefined);
        await world.stack.killFunction(title);
        await call;
      }),
    ),
  );
  return async () => {
    await end();
    // Of a function that nobody calls there is no figure that says that it is well; the loops are called each minute.
    await Promise.all([
      world.ask('PUT', `/trips/cells/${randomUUID()}/BASE/1`, { name: 'a call' }),
      world.ask('GET', `/trips/rows/${randomUUID()}`),
      world.ask('GET', '/trips/indexes'),
      world.ask('GET', '/work/triggers'),
      world.ask('GET', '/work/moves'),
      world.ask('POST', '/definitions/apply', {}),
      ...called
        .filter(({ title }) => title.startsWith('trigger-'))
        .map(({ arn }) => functions.invoke(arn, NO_MESSAGES)),
    ]);
  };
}

/** Nothing starts the loops any more. */
export async function withoutSchedules(world: AlarmWorld): Promise<Cure> {
  await world.deploy('off');
  return () => world.deploy('on');
}
