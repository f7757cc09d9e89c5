import { randomUUID } from 'node:crypto';
import { metricsOf } from '../alarm.ts';
import type { AlarmCase } from '../ring.ts';

const KILL_EVERY_SECONDS = 15;
const NO_MESSAGES = JSON.stringify({ Records: [] });

export const CRASHING_INSTANCES: AlarmCase = {
  sections: ['function-errors'],
  each: true,
  fault: 'instances end while they are called',
  fix: 'they end no more',
  async breaks(world) {
    const { functions } = world.stack;
    const watched = new Set(
      world.alarms.flatMap(({ checks }) => metricsOf(checks).map(({ dimensions }) => dimensions['FunctionName'])),
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
      const trips = world.of('trips');
      // A function without calls has no metric that says that it is well; the loops are called each minute.
      await Promise.all([
        trips.put({ row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: { name: 'a call' } }),
        trips.row(randomUUID()),
        trips.listIndexes(),
        trips.listTriggers(),
        trips.listMoves(),
        // It refuses that there are none, and was called all the same.
        trips.applyDefinitions({ files: {} }).catch(() => undefined),
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
  fix: 'deploy again',
  async breaks(world) {
    await world.deploy('off');
    return () => world.deploy('on');
  },
};
