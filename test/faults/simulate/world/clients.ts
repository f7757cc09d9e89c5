import type { NewCell, PutResult, RowTransaction, TransactionResult } from '../../../../shared/cell.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { Random } from '../../../support/random.ts';
import { randomRowKey } from '../../../support/row-key.ts';
import type { Judge } from '../judge.ts';
import type { StartedInstance, World } from './world.ts';

const CLIENTS = 3;
const INSTANCES = 2;
const BEAT_MS = 1000;
const CALLS = [4, 10] as const;
const MOST_BATCH = 5;
/** Tries of a write that is answered `unavailable`. */
const TRIES = 3;
const COLUMNS: readonly [string, string] = ['BASE', 'STATUS'];

/** The addresses that all clients write to: few, so that they collide. */
interface Ground {
  readonly rows: readonly [string, ...string[]];
  /** The answers to writes so far, by address. */
  readonly answers: Map<string, { readonly cell: NewCell; readonly result: PutResult }[]>;
}

/** Runs clients that write and read during the first `milliseconds`; each call is judged as it is answered. */
export async function runClients(world: World, judge: Judge, milliseconds: number): Promise<void> {
  const { random, time } = world;
  const rows = Array.from({ length: 5 }, () => randomRowKey(random)) as [string, ...string[]];
  const ground: Ground = { rows, answers: new Map() };
  const writers = openWriters(world, () => time.now() < milliseconds);
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const own = new Random(String(random.next()), 'client', client);
      const calls = own.integer(...CALLS);
      for (let call = 0; call < calls; call += 1) {
        await time.sleep(own.between(0, (2 * milliseconds) / calls) * 0.8);
        // Some come at the same moment: logs show a hole while two commits are close together.
        if (own.chance(0.5)) await time.sleep(BEAT_MS - (time.now() % BEAT_MS));
        await oneCall(world, (work) => writers.call(client % INSTANCES, work), { random: own, ground, judge });
      }
    }),
  );
}

interface Call {
  readonly random: Random;
  readonly ground: Ground;
  readonly judge: Judge;
}

/** Sends a call to the instance of a client. */
type Send = <Answer>(work: (store: Datastore) => Promise<Answer>) => Promise<Answer | undefined>;

async function oneCall(world: World, send: Send, call: Call): Promise<void> {
  const { random } = call;
  const kind = random.next();
  if (kind < 0.2) return void (await send((store) => readBack(store, call)));
  if (kind > 0.85) return transactOnce(world, send, call);
  const cells = Array.from({ length: kind < 0.7 ? 1 : random.integer(2, MOST_BATCH) }, () => cellOf(call));
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const results = await send(async (store) =>
      cells.length === 1 ? [await store.put(cells[0] as NewCell)] : store.batchPut(cells),
    );
    for (const [position, cell] of cells.entries()) {
      if (!results) {
        world.chronicle.abandoned(cell);
        continue;
      }
      const result = results[position] as PutResult;
      call.judge.put(cell, result);
      const name = nameOf(cell);
      call.ground.answers.set(name, [...(call.ground.answers.get(name) ?? []), { cell, result }]);
    }
    if (results?.every(({ outcome }) => outcome !== 'unavailable') || random.chance(0.3)) return;
    await world.time.sleep(random.between(100, 2000));
  }
}

/** Writes cells of one row together, often of rows that others write to, and a third of them with a condition. */
async function transactOnce(world: World, send: Send, call: Call): Promise<void> {
  const { random } = call;
  if (random.chance(0.3)) return skewed(world, send, call);
  const first = cellOf(call);
  const { row_key } = first;
  const addresses = COLUMNS.flatMap((column_name) => [1, 2].map((ref_key) => ({ row_key, column_name, ref_key })));
  const some = addresses.filter(() => random.chance(0.5)).map((address) => ({ ...address, body: cellOf(call).body }));
  const transaction = {
    row_key,
    cells: some.length === 0 ? [first] : some,
    ...(random.chance(0.35) && {
      if: [{ column_name: random.pick(COLUMNS), latest: random.chance(0.5) ? null : random.integer(1, 2) }],
    }),
  };
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const outcome = await transact(world, send, call, transaction);
    if ((outcome !== undefined && outcome !== 'unavailable') || random.chance(0.3)) return;
    await world.time.sleep(random.between(100, 2000));
  }
}

/** Writes each of two columns if the other is empty, at once or one after the other: not both may be stored. */
async function skewed(world: World, send: Send, call: Call): Promise<void> {
  const { random } = call;
  const row_key = randomRowKey(random);
  const [one, other] = COLUMNS.map((column_name, at) => ({
    row_key,
    cells: [{ row_key, column_name, ref_key: 1, body: at }],
    if: [{ column_name: COLUMNS[1 - at] ?? '', latest: null }],
  })) as readonly Transaction[] as readonly [Transaction, Transaction];
  const first = transact(world, send, call, one);
  if (random.chance(0.5)) await first;
  await Promise.all([first, transact(world, send, call, other)]);
}

type Transaction = RowTransaction & { readonly cells: readonly NewCell[] };

async function transact(
  world: World,
  send: Send,
  { judge }: Call,
  transaction: Transaction,
): Promise<TransactionResult['outcome'] | undefined> {
  const result = await send((store) => store.transact(transaction));
  if (result) judge.transaction(transaction, transaction.cells, result);
  else {
    world.chronicle.transacted(transaction);
    for (const cell of transaction.cells) world.chronicle.abandoned(cell);
  }
  return result?.outcome;
}

/**
 * Returns a cell. A third of the writes meet others at their address, with the same body, in the same or another order
 * of its keys, or another one.
 */
function cellOf({ random, ground }: Call): NewCell {
  const isShared = random.chance(0.4);
  const row_key = isShared ? random.pick(ground.rows) : randomRowKey(random);
  const value = isShared ? random.integer(1, 2) : random.integer(1, 1000);
  const body = random.chance(0.5) ? { value, by: 'one' } : { by: 'one', value };
  return { row_key, column_name: random.pick(COLUMNS), ref_key: random.integer(1, 2), body };
}

async function readBack(store: Datastore, { random, ground, judge }: Call): Promise<void> {
  const names = [...ground.answers.keys()];
  const answers = names.length === 0 ? [] : (ground.answers.get(random.pick(names as [string, ...string[]])) ?? []);
  const [first] = answers;
  if (!first) return;
  const acked = answers.map(({ result }) => result);
  const stored = answers.find(({ result }) => result.outcome === 'stored')?.result;
  const minimum = stored?.outcome === 'stored' && random.chance(0.5) ? stored.added_id : undefined;
  try {
    judge.read(
      first.cell,
      await store.get(first.cell, { read: random.chance(0.5) ? 'writer' : 'reader', min_added_id: minimum }),
      acked,
      minimum,
    );
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'unavailable') throw error;
  }
}

function nameOf({ row_key, column_name, ref_key }: NewCell): string {
  return `${row_key}/${column_name}/${ref_key}`;
}

/** Instances of the function that writes: after a death, the next call starts another. */
interface Writers {
  /** Sends a call to the nth of them. Returns undefined if its instance died: its outcome stays unknown. */
  call<Answer>(nth: number, work: (store: Datastore) => Promise<Answer>): Promise<Answer | undefined>;
}

/** The function's time limit: an instance whose call takes longer is ended. */
const REQUEST_MS = 28_000;

function openWriters(world: World, isFaulty: () => boolean): Writers {
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

  /** Starts again while the topology is unavailable. */
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

/** Kills some, pauses some, at any moment of their work. */
function disturb({ random, time }: World, instance: StartedInstance): void {
  if (random.chance(0.2)) time.after(random.between(0, 8000), () => instance.die());
  if (!random.chance(0.2)) return;
  time.after(random.between(0, 8000), () => instance.freeze(random.between(50, random.chance(0.2) ? 20_000 : 3000)));
}
