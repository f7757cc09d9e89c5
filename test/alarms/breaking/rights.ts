import { userName, type MadeUser } from '../../../shared/topology/database-users.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { AlarmCase } from '../ring.ts';

/** Takes a right from users on a group. Returns a function that restores it. */
async function revoke(world: AlarmWorld, group: string, right: string, ...users: readonly MadeUser[]) {
  const named = users.map((user) => `'${userName(user)}'@'%'`);
  for (const user of named) await world.sql(group, `REVOKE ${right} FROM ${user}`);
  return async (): Promise<void> => {
    for (const user of named) await world.sql(group, `GRANT ${right} TO ${user}`);
  };
}

export const barredMover = (from: string, to: string): AlarmCase => ({
  sections: ['move-errors'],
  fault: 'the mover of shards may create nothing on the other group',
  fix: 'the right is given back; POST …/moves/…/cancel',
  withinMinutes: 20,
  async breaks(world) {
    const { shard } = await world.rowIn(from);
    // As `create-users.ts` grants it.
    const giveBack = await revoke(world, to, 'CREATE ON `trips\\_%`.*', 'move');
    await world.of('trips').createMove({ shard, to });
    return async () => {
      await giveBack();
      await world.insist(() => world.of('trips').cancelMove({ shard }));
    };
  },
});

export const barredErasers = (group: string): AlarmCase => ({
  sections: ['erasures-open'],
  fault: 'the users that erase may delete no buffered copies on a group',
  fix: 'the right is given back',
  withinMinutes: 30,
  async breaks(world) {
    const { row: row_key } = await world.rowIn(group);
    const giveBack = await revoke(world, group, 'DELETE ON `schemaless`.*', 'erase', 'repair');
    await world.of('trips').eraseCells({ row_key, reason: 'an alarm' });
    return giveBack;
  },
});
