import { randomUUID } from 'node:crypto';
import { metricsOf } from '../alarm.ts';
import type { AlarmCase } from '../ring.ts';

const KILL_EVERY_SECONDS = 15;
const NO_MESSAGES = JSON.stringify({ Records: [] });

export const CRASHING_INSTANCES: AlarmCase = {
  sections: ['function-errors'],
  each: true,
  fault: 'instances end while they are called',
  cure: 'they end no more',
  async breaks(world) {
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
      // A function without calls has no figure that says that it is well; the loops are called each minute.
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
  },
};

export const WITHOUT_SCHEDULES: AlarmCase = {
  sections: ['loop-stopped'],
  each: true,
  fault: 'a deployment without schedules',
  cure: 'deploy again',
  async breaks(world) {
    await world.deploy('off');
    return () => world.deploy('on');
  },
};
