import type { NewCell } from '../../../shared/cell.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import type { RealStore } from '../../support/real-store.ts';
import type { Mover } from './support.ts';

interface DyingMover {
  readonly context: RealStore['context'];
  isDead(): boolean;
}

/** The store's groups, which answer nothing from the nth statement of a switch on. */
function dyingMover({ context }: RealStore, statement: number): DyingMover {
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
 * Moves a shard by a mover that dies at the nth statement of its switch, and by another one.
 *
 * @param put a new cell, at each step
 * @returns whether it died
 */
export async function moveDying(
  store: RealStore,
  mover: Mover,
  { shard, statement, put }: { readonly shard: number; readonly statement: number; put(): Promise<NewCell> },
): Promise<boolean> {
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
  return dying.isDead();
}
