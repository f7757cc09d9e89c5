import { SchemalessError } from '../../../../shared/errors.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import type { StartedInstance, World } from './world.ts';

/** Instances of the function that writes: where one died, the next call starts another. */
export interface Writers {
  /** Sends a call to the nth of them. Undefined where its instance died, and nobody will ever hear of it. */
  call<Answer>(nth: number, work: (store: Datastore) => Promise<Answer>): Promise<Answer | undefined>;
}

/** The function's time limit: an instance whose call takes longer is ended. */
const REQUEST_MS = 28_000;

export function openWriters(world: World, isFaulty: () => boolean): Writers {
  const { time } = world;
  const running = new Map<number, StartedInstance>();
  const stores = new Map<StartedInstance, Promise<Datastore>>();

  function instanceOf(nth: number): StartedInstance {
    const known = running.get(nth);
    if (known && !known.isDead) return known;
    const instance = world.start('writing');
    running.set(nth, instance);
    if (isFaulty()) disturb(world, instance);
    return instance;
  }

  /** One that begins while the topology is away begins again. */
  async function storeOf(instance: StartedInstance): Promise<Datastore> {
    for (;;) {
      try {
        return await instance.datastore();
      } catch (error) {
        if (!(error instanceof SchemalessError)) throw error;
        await time.sleep(300);
      }
    }
  }

  return {
    async call(nth, work) {
      const instance = instanceOf(nth);
      let store = stores.get(instance);
      if (!store) stores.set(instance, (store = storeOf(instance)));
      let isOver = false;
      time.after(REQUEST_MS, () => {
        if (!isOver) instance.die();
      });
      try {
        return await Promise.race([store.then(work), instance.death.then(() => undefined)]);
      } finally {
        isOver = true;
      }
    },
  };
}

/** Some die, some stand still for a while, at any moment of what they are at. */
function disturb({ random, time }: World, instance: StartedInstance): void {
  if (random.chance(0.2)) time.after(random.between(0, 8000), () => instance.die());
  if (!random.chance(0.2)) return;
  time.after(random.between(0, 8000), () => instance.freeze(random.between(50, random.chance(0.2) ? 20_000 : 3000)));
}
