/** An instance that goes by the topology as it was when it began, until it is told that it may hear of a new one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, Role } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { shardOf } from '../../../shared/address.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, openStore, type OpenStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker, type WorkerControl } from '../../support/workers/worker-side.ts';
import { Ledger, type Written } from '../load/ledger.ts';
import { rowKeyIn } from '../row-keys.ts';
import { VERSIONS, type AnsweredRead, type AnsweredWrite } from './judge-router.ts';

export interface RouterInput {
  readonly access: StoreAccess;
  readonly seed: string;
  readonly shards: number;
  readonly moved: readonly number[];
  readonly rows: readonly [string, ...(readonly string[])];
}

export interface Routed {
  readonly written: Written;
  readonly writes: readonly AnsweredWrite[];
  readonly reads: readonly AnsweredRead[];
  /** When it could hear of the topology again, in milliseconds since 1970. */
  readonly released: number;
}

const WRITERS = 4;
const READERS: readonly Role[] = ['writer', 'writer', 'reader', 'reader'];
const PAUSE_MS = 10;
/** So long it works on once it has heard. */
const AFTER_MS = 3000;

type Control = WorkerControl<'release', never>;

await runAsWorker<RouterInput, 'release', never, Routed>(async (input, control: Control) => {
  let isHeld = true;
  await using store = await openStore(input.access, {
    topology(source) {
      const first = source.datastore(DATASTORE);
      return { ...source, datastore: (asked) => (isHeld && asked === DATASTORE ? first : source.datastore(asked)) };
    },
  });
  const random = new Random(input.seed, 'router', 0);
  const [ledger, writes, reads] = [new Ledger(), [] as AnsweredWrite[], [] as AnsweredRead[]];
  let end = Infinity;
  const isOver = (): boolean => Date.now() > end;
  control.ready();
  const shared = { store, input, random, ledger, writes, reads, isOver };
  const working = Promise.all([
    ...Array.from({ length: WRITERS }, (_, writer) => write(shared, writer)),
    ...READERS.map((role) => read(shared, role)),
  ]);
  while (control.stopped === undefined) await sleep(PAUSE_MS);
  const released = Date.now();
  isHeld = false;
  end = released + AFTER_MS;
  await working;
  return { written: ledger.written(), writes, reads, released };
});

interface Working {
  readonly store: OpenStore;
  readonly input: RouterInput;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly writes: AnsweredWrite[];
  readonly reads: AnsweredRead[];
  readonly isOver: () => boolean;
}

/** Half of what it writes belongs to shards that moved, half to the others. */
async function write(
  { store: { datastore }, input, random, ledger, writes, isOver }: Working,
  writer: number,
): Promise<void> {
  const moved = new Set(input.moved);
  const others = new Set(Array.from({ length: input.shards }, (_, shard) => shard).filter((one) => !moved.has(one)));
  for (let number = 1; !isOver(); number += 1) {
    const row_key = rowKeyIn(random, random.chance(0.5) ? moved : others, input.shards);
    const cell: NewCell = { row_key, column_name: 'BASE', ref_key: number, body: { writer, number } };
    const begun = Date.now();
    const result = await datastore.put(cell);
    ledger.note(cell, result);
    writes.push({ shard: result.shard, begun, ended: Date.now(), outcome: result.outcome });
    await sleep(PAUSE_MS);
  }
}

async function read({ store: { datastore }, input, random, reads, isOver }: Working, role: Role): Promise<void> {
  while (!isOver()) {
    const row_key = random.pick(input.rows);
    const [shard, begun] = [shardOf(row_key, input.shards), Date.now()];
    try {
      const { cell, stale } = await datastore.getLatest({ row_key, column_name: VERSIONS }, { read: role });
      reads.push({ shard, row_key, begun, ended: Date.now(), answer: { version: cell?.ref_key ?? 0, stale } });
    } catch (error) {
      if (!(error instanceof SchemalessError)) throw error;
      reads.push({ shard, row_key, begun, ended: Date.now() });
    }
    await sleep(PAUSE_MS);
  }
}
