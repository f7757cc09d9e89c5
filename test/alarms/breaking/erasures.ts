import { userName } from '../../../shared/topology/database-users.ts';
import type { Cure } from '../alarm-case.ts';
import type { AlarmWorld } from '../alarm-world.ts';

const ERASERS = [userName('erase'), userName('repair')].map((user) => `'${user}'@'%'`);
/** As `create-users.ts` grants it. */
const OF_CONTROL = 'DELETE ON `schemaless`.*';

/** Those who erase may delete no copies on a group, while a row is erased, until they may again. */
export async function barredErasers(world: AlarmWorld, group: string): Promise<Cure> {
  const { row: row_key } = await world.rowIn(group);
  for (const user of ERASERS) await world.sql(group, `REVOKE ${OF_CONTROL} FROM ${user}`);
  await world.mustAsk('POST', '/trips/erasures', { row_key, reason: 'an alarm' });
  return async () => {
    for (const user of ERASERS) await world.sql(group, `GRANT ${OF_CONTROL} TO ${user}`);
  };
}
