import { shardDatabase } from '../../../shared/address.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { Cure } from '../alarm-case.ts';

/** Enough for one in a hundred, of all that is asked meanwhile. */
const CALLERS = 4;

/** Callers of rows in a group, side by side. Returns what ends them. */
function call(world: AlarmWorld, everySeconds: number, ask: () => Promise<unknown>): Cure {
  const ends = Array.from({ length: CALLERS }, () => world.again(everySeconds, ask));
  return () => Promise.all(ends.map((end) => end()));
}

/** All servers of a group hang: its rows can be read nowhere. */
export async function groupHangs(world: AlarmWorld, group: string): Promise<Cure> {
  const { row } = await world.rowIn(group);
  const nodes = world.stack.groups.status().filter((node) => node.group === group);
  for (const { node } of nodes) await world.local('pause', node);
  const end = call(world, 1, () => world.ask('GET', `/trips/rows/${row}`));
  return async () => {
    for (const { node } of nodes) await world.local('resume', node);
    await end();
  };
}

/** Somebody locks the table of a shard that is written to. */
export async function lockedTable(world: AlarmWorld, group: string): Promise<Cure> {
  const { row, shard } = await world.rowIn(group);
  const connection = await world.connect(group);
  await connection.query(`LOCK TABLES \`${shardDatabase('trips', shard)}\`.entity WRITE`);
  let refKey = 0;
  const end = call(world, 0.1, () => world.ask('PUT', `/trips/cells/${row}/BASE/${(refKey += 1)}`, { name: 'slow' }));
  return async () => {
    connection.destroy();
    await end();
  };
}

const KILL_EVERY_SECONDS = 8;

/** A server that dies again and again, and is started again each time; then another one takes its place. */
export async function dyingWriter(world: AlarmWorld, group: string): Promise<Cure> {
  const { row } = await world.rowIn(group);
  const node = world.writerOf(group);
  const endKills = world.again(KILL_EVERY_SECONDS, () => world.local('kill', node));
  let refKey = 0;
  const endCalls = call(world, 0.2, async () => {
    await world.ask('PUT', `/trips/cells/${row}/BASE/${(refKey += 1)}`, { name: 'often' });
    await world.ask('GET', `/trips/rows/${row}`);
  });
  return async () => {
    await endKills();
    await world.insist(() => world.local('promote', group));
    await endCalls();
  };
}
