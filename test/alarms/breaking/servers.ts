import { shardDatabase } from '../../../shared/address.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { AlarmCase, Fix } from '../ring.ts';

/** Enough for one in a hundred of all requests during the fault. */
const CALLERS = 4;
const KILL_EVERY_SECONDS = 8;

/** Starts callers in parallel. Returns a function that ends them. */
function call(world: AlarmWorld, everySeconds: number, ask: () => Promise<unknown>): Fix {
  const ends = Array.from({ length: CALLERS }, () => world.again(everySeconds, ask));
  return () => Promise.all(ends.map((end) => end()));
}

function putsTo(world: AlarmWorld, row: string): () => Promise<unknown> {
  let refKey = 0;
  const trips = world.once('trips');
  return () => trips.put({ row_key: row, column_name: 'BASE', ref_key: (refKey += 1), body: { name: 'again' } });
}

/** Locks the table of a row's shard in a session. Returns a function that ends the session. */
async function lockTable(world: AlarmWorld, group: string, node: 'writer' | 'reader', shard: number) {
  const connection = await world.connect(group, node);
  const mode = node === 'writer' ? 'WRITE' : 'READ';
  await connection.query(`LOCK TABLES \`${shardDatabase('trips', shard)}\`.entity ${mode}`);
  return (): void => connection.destroy();
}

export const groupHangs = (group: string): AlarmCase => ({
  sections: ['server-errors'],
  fault: 'all servers of a group hang',
  fix: 'npm run local -- resume',
  async breaks(world) {
    const { row } = await world.rowIn(group);
    const nodes = world.stack.groups.status().filter((node) => node.group === group);
    for (const { node } of nodes) await world.local('pause', node);
    const end = call(world, 1, () => world.once('trips').row(row));
    return async () => {
      for (const { node } of nodes) await world.local('resume', node);
      await end();
    };
  },
});

export const lockedTable = (group: string): AlarmCase => ({
  sections: ['latency'],
  fault: 'a session locks the table of a shard that is written to',
  fix: 'the session is ended',
  async breaks(world) {
    const { row, shard } = await world.rowIn(group);
    const unlock = await lockTable(world, group, 'writer', shard);
    const end = call(world, 0.1, putsTo(world, row));
    return async () => {
      unlock();
      await end();
    };
  },
});

export const dyingWriter = (group: string): AlarmCase => ({
  sections: ['circuits'],
  fault: 'a writer dies every eight seconds',
  fix: 'npm run local -- promote, and it dies no more',
  async breaks(world) {
    const { row } = await world.rowIn(group);
    const node = world.writerOf(group);
    const endKills = world.again(KILL_EVERY_SECONDS, () => world.local('kill', node));
    const put = putsTo(world, row);
    const endCalls = call(world, 0.2, async () => {
      await put();
      await world.once('trips').row(row);
    });
    return async () => {
      await endKills();
      await world.insist(() => world.local('promote', group));
      await endCalls();
    };
  },
});

/** The writer's changes wait on the reader behind the lock. */
export const heldReader = (group: string): AlarmCase => ({
  sections: ['reader-lag'],
  fault: 'a session locks a table on a reader',
  fix: 'the session is ended',
  async breaks(world) {
    const { row, shard } = await world.rowIn(group);
    const unlock = await lockTable(world, group, 'reader', shard);
    const end = world.again(1, putsTo(world, row));
    return async () => {
      unlock();
      await end();
    };
  },
});

export const MANY_CONNECTIONS: AlarmCase = {
  sections: ['group-connections'],
  each: true,
  fault: 'more connections than the bound are opened',
  fix: 'they are closed',
  async breaks(world) {
    const bounds = world.alarms
      .filter(({ section }) => section === 'group-connections')
      .map(({ threshold }) => threshold);
    const groups = world.stack.groups.groups.flatMap(({ name }) =>
      Array.from({ length: Math.max(...bounds) + 1 }, () => name),
    );
    const opened = await Promise.all(groups.map((group) => world.connect(group)));
    return () => Promise.all(opened.map((connection) => connection.end()));
  },
};
