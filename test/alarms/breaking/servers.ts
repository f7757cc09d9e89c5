import { shardDatabase } from '../../../shared/address.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { Cure } from '../alarm-case.ts';

/** Somebody opens so many connections to each group. */
export async function manyConnections(world: AlarmWorld, section: string): Promise<Cure> {
  const most = Math.max(...world.alarms.filter((alarm) => alarm.section === section).map(({ threshold }) => threshold));
  const groups = world.stack.groups.groups.flatMap(({ name }) => Array.from({ length: most + 1 }, () => name));
  const opened = await Promise.all(groups.map((group) => world.connect(group)));
  return () => Promise.all(opened.map((connection) => connection.end()));
}

/** Somebody's session on a reader locks a table that is written to: what its writer did waits behind it. */
export async function heldReader(world: AlarmWorld, group: string): Promise<Cure> {
  const { row, shard } = await world.rowIn(group);
  const connection = await world.connect(group, 'reader');
  await connection.query(`LOCK TABLES \`${shardDatabase('trips', shard)}\`.entity READ`);
  let refKey = 0;
  const end = world.again(1, () => world.ask('PUT', `/trips/cells/${row}/BASE/${(refKey += 1)}`, { name: 'late' }));
  return async () => {
    connection.destroy();
    await end();
  };
}
