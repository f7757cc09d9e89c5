import { userName } from '../../../shared/topology/database-users.ts';
import type { AlarmWorld } from '../alarm-world.ts';
import type { Cure } from '../alarm-case.ts';

const MOVER = `'${userName('move')}'@'%'`;
/** As `create-users.ts` grants it. */
const OF_SHARDS = 'CREATE ON `trips\\_%`.*';

/** Who moves shards may create nothing on the group to which one is moved, until it may again and the move is given up. */
export async function barredMover(world: AlarmWorld, from: string, to: string): Promise<Cure> {
  const { shard } = await world.rowIn(from);
  await world.sql(to, `REVOKE ${OF_SHARDS} FROM ${MOVER}`);
  await world.mustAsk('POST', '/trips/moves', { shard, to });
  return async () => {
    await world.sql(to, `GRANT ${OF_SHARDS} TO ${MOVER}`);
    await world.insist(() => world.mustAsk('POST', `/trips/moves/${shard}/cancel`));
  };
}
