import { expect } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import type { OpenTrips } from '../../support/open-trips.ts';
import type { RealStore } from '../../support/real-store.ts';
import type { Mover } from './support.ts';

/** The store's groups, which answer nothing from the nth statement of a switch on. */
function dyingMover({ context }: RealStore, statement: number) {
  let left = Number.POSITIVE_INFINITY;
  let isDead = false;
  const count = (): void => {
    left -= 1;
    if (left > 0) return;
    isDead = true;
    throw new SqlError('unreachable', 'the mover is dead');
  };
  const groups: RealStore['context']['groups'] = {
    ...context.groups,
    async client(group) {
      const client = await context.groups.client(group);
      return {
        ...client,
        abilities: client.abilities,
        nodes: client.nodes,
        select: async (select, target) => (count(), client.select(select, target)),
        async change(change) {
          if (change.sql.includes("'arriving', ?, ?, NULL)") && left === Number.POSITIVE_INFINITY) left = statement;
          count();
          return client.change(change);
        },
        close: async () => undefined,
      };
    },
  };
  return { context: { ...context, groups }, isDead: () => isDead };
}

/**
 * Moves shard 2 by a mover that dies at the nth statement of its switch, and by another one. Returns whether it died.
 */
export async function moveDying(opened: OpenTrips, mover: Mover, statement: number): Promise<boolean> {
  const { store, trips, cellIn } = opened;
  const shard = 2;
  const written: NewCell[] = [];
  /** At each step. */
  const put = async (): Promise<void> => {
    const cell = cellIn(shard, { body: { city: 'Dies' } });
    expect(['stored', 'buffered']).toContain((await trips.put(cell)).outcome);
    written.push(cell);
  };
  await put();
  await mover.follow(shard, (await mover.others(shard))[0]);
  const dying = dyingMover(store, statement);
  const stopDying = mover.start({ context: dying.context });
  await mover.operations.switchMove({ shard });
  await mover.until(shard, ({ switches, step }) => (switches === 1 && step === 'following') || dying.isDead());
  await stopDying();
  await put();
  const stop = mover.start();
  await mover.switched(shard);
  await put();
  await mover.complete(shard);
  await stop();
  await put();
  for (const group of store.groups) await drainAtOnce(store.context, group.name);
  for (const cell of written) expect((await trips.get(cell)).cell?.body).toEqual(cell.body);
  expect((await trips.heads())[shard]).toMatchObject({ group: (await mover.home(shard)).group });
  return dying.isDead();
}
