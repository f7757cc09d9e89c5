/** A thread of writers that keep their pace, whatever their answers take, until it is told to stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { asker, askUntilTold, isTold, type Answer } from '../acks/ask.ts';
import { blamingClient } from '../blaming-client.ts';
import { OverlappingLedger } from '../acks/overlapping-ledger.ts';
import { CellSource, type Mix } from '../load/cell-source.ts';
import { openHistory } from '../load/history.ts';
import type { Written } from '../load/ledger.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

export interface SteadyLoad {
  readonly access: StoreAccess;
  /** Writers of this thread, and the number of the first. */
  readonly writers: number;
  readonly first: number;
  /** Puts that each writer begins in a second. */
  readonly perSecond: number;
  readonly seed: string;
  /** Name of the run in histories. */
  readonly run: string;
  readonly history: string | undefined;
  /** As a control: circuits open on any time limit, whether the node gives a sign of life or not. @default they ask for one */
  readonly blames?: boolean;
}

/** A circuit of the store that opened. */
export interface Trip {
  readonly circuit: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Steady {
  readonly written: Written;
  readonly answers: readonly Answer[];
  readonly trips: readonly Trip[];
}

/** Puts of new cells, and one repeat in ten: of an earlier cell, or of one that is under way. */
const MIX: Mix = { batchShare: 0, batchSize: 1, repeatShare: 0.1 };
/** Some ask again at once, others when the server goes on. */
const PATIENCE = { leastMs: 200, mostMs: 8000, wholeMs: 90_000 };
/** Share of the buffered writes that are asked for again; the others are the drain's alone. */
const BUFFERED_AGAIN = 0.15;

await runAsWorker<SteadyLoad, 'stop', never, Steady>(async ({ access, writers, first, perSecond, seed, run, history: file, blames = false }, control) => {
  const trips: Trip[] = [];
  await using store = await openStore(access, {
    ...(blames && { wrap: blamingClient }),
    report: (event) => {
      if (event.kind === 'circuit_opened') trips.push({ circuit: `${event.group}'s ${event.role}`, at: Date.now() });
    },
  });
  using history = openHistory(file, run);
  const ledger = new OverlappingLedger();

  const write = async (number: number): Promise<readonly Answer[]> => {
    const source = new CellSource(seed, number, MIX);
    const random = new Random(seed, 'pace', number);
    const ask = asker(store.datastore, `writer-${number}`, history, (cell, result) => ledger.note(cell, result));
    const puts: Promise<readonly Answer[]>[] = [];
    for (let due = performance.now(); control.stopped === undefined; due += (random.between(0, 2) * 1000) / perSecond) {
      const pause = due - performance.now();
      if (pause > 0) await sleep(pause);
      const next = source.next();
      if (next.kind === 'batch') throw new Error('wanted a put, got a batch');
      const put = async (): Promise<readonly Answer[]> => {
        const told = await ask([next.cell]);
        const isOver = told.every((answer) => isTold(answer) || (answer.outcome === 'buffered' && !random.chance(BUFFERED_AGAIN)));
        return isOver ? told : [...told, ...(await askUntilTold(ask, [next.cell], told, random, PATIENCE))];
      };
      puts.push(put(), ...(next.kind === 'together' ? [put()] : []));
    }
    return (await Promise.all(puts)).flat();
  };

  control.ready();
  const answers = (await Promise.all(Array.from({ length: writers }, (_, place) => write(first + place)))).flat();
  return { written: ledger.written(), answers, trips };
});
