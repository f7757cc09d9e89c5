/** A thread of writers, until they are told to stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import type { StoreEvent } from '../../../shared/access/context.ts';
import { Random } from '../../support/random.ts';
import { runAsWorker, type WorkerControl } from '../../support/workers/worker-side.ts';
import { Book, writtenOf, type Written } from './ledger.ts';
import { asker, askUntilTold, isTold, type Answer, type AskerOptions, type Patience } from './ask.ts';
import { CellSource, ContestedCells, type Mix, type Write } from './cell-source.ts';
import { checkBack, type Sample } from './check-back.ts';
import { openTarget, type WriteTarget } from './write-target.ts';

export interface LoadInput {
  readonly target: WriteTarget;
  readonly writers: readonly number[];
  readonly seed: string;
  /** New cells, and old ones again; or bodies for addresses that all writers contend for since this time. */
  readonly cells: Mix | { readonly contestedSince: number };
  /** Calls that each writer begins in a second, regardless of their answers. @default one under way at a time */
  readonly perSecond?: number | undefined;
  /**
   * Writers retry until they know the outcome of their cells, and continue in the meantime. @default they accept any
   * answer
   */
  readonly again?:
    | (Patience & {
        /** Share of the buffered writes: the others are the drain's alone. @default 1 */ readonly ofBuffered?: number;
      })
    | undefined;
  /** Share of the single cells at whose address another body is tried once the first is confirmed. @default 0 */
  readonly otherShare?: number | undefined;
  /** Stored cells are read again and again. @default false */
  readonly checksBack?: boolean | undefined;
  /**
   * Each writer opens the store by itself, so that their appends are not batched, as with function instances. @default
   * they share one
   */
  readonly isolated?: boolean | undefined;
}

export interface LoadProgress {
  /** The count of confirmed cells. */
  readonly acked: number;
  readonly answers: number;
}

/** A circuit of the store that opened. */
interface Opening {
  readonly circuit: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Loaded {
  readonly written: Written;
  /** In order of arrival, except for answers to retries. */
  readonly answers: readonly Answer[];
  readonly openings: readonly Opening[];
  readonly samples: readonly Sample[];
}

const REPORT_MS = 100;
/** The pause after a write that was not confirmed: a failed node needs some time. */
const REFUSED_PAUSE_MS = 20;

type Control = WorkerControl<'stop', LoadProgress>;

await runAsWorker<LoadInput, 'stop', LoadProgress, Loaded>(async (input, control: Control) => {
  const openings: Opening[] = [];
  let hintFailures = 0;
  const report = (event: StoreEvent): void => {
    if (event.kind === 'circuit_opened') openings.push({ circuit: `${event.group}'s ${event.role}`, at: Date.now() });
    else if (event.kind === 'secondary_failed') hintFailures += 1;
  };
  await using stores = new AsyncDisposableStack();
  const open = async () => stores.use(await openTarget(input.target, report));
  const opened = input.isolated ? await Promise.all(input.writers.map(open)) : [await open()];
  const openedFor = (position: number) => opened[position % opened.length] as (typeof opened)[number];
  const book = new Book();
  control.ready();
  const reporting = setInterval(() => control.say({ acked: book.acked, answers: book.answers.length }), REPORT_MS);
  const common = { input, control, book, hintFailures: () => hintFailures };
  const random = new Random(input.seed, 'samples', input.writers[0] ?? 0);
  const isOver = (): boolean => control.stopped !== undefined;
  const polling = input.checksBack ? checkBack(opened[0], book.stored, random, isOver) : [];
  try {
    await Promise.all(
      input.writers.map((number, position) => write({ ...common, number, writer: openedFor(position) })),
    );
    const written = writtenOf(book.ofRecord, input.again !== undefined);
    return { written, answers: book.answers, openings, samples: await polling };
  } finally {
    clearInterval(reporting);
  }
});

interface Writing extends Pick<AskerOptions, 'writer' | 'hintFailures'> {
  readonly input: LoadInput;
  readonly control: Control;
  readonly book: Book;
  readonly number: number;
}

/** Runs one writer. Returns once all of its calls are answered. */
async function write({ input, control, book, number, ...asking }: Writing): Promise<void> {
  const { seed, cells, perSecond, again, otherShare = 0 } = input;
  const source: { next(): Write } =
    'contestedSince' in cells
      ? new ContestedCells(seed, number, cells.contestedSince)
      : new CellSource(seed, number, cells);
  const random = new Random(seed, 'pace', number);
  const ask = asker(asking);
  const underWay = new Set<Promise<void>>();
  const begin = (work: Promise<void>): void => {
    const done: Promise<void> = work.finally(() => underWay.delete(done));
    underWay.add(done);
  };

  /** Makes calls at once: the one that stored is recorded first. */
  const call = async (
    calls: readonly (readonly NewCell[])[],
    { isOfRecord = true, isTransaction = false } = {},
  ): Promise<readonly Answer[]> => {
    const asks: typeof ask = (some) => ask(some, isTransaction);
    const told = await Promise.all(calls.map((some) => asks(some)));
    book.note(
      told.toSorted(([one], [other]) => Number(other?.outcome === 'stored') - Number(one?.outcome === 'stored')).flat(),
      isOfRecord,
    );
    for (const [position, [answer]] of told.entries())
      if (input.checksBack && answer?.outcome === 'stored')
        book.stored.push({ cell: calls[position]?.[0] as NewCell, shard: answer.shard });
    for (const [position, answers] of told.entries())
      if (again && !answers.every(isOver))
        begin(
          askUntilTold(asks, calls[position] ?? [], answers, random, again).then((further) =>
            book.note(further, isOfRecord),
          ),
        );
    return told.flat();
  };
  const isOver = (answer: Answer): boolean =>
    isTold(answer) || (answer.outcome === 'buffered' && !random.chance(again?.ofBuffered ?? 1));
  const carryOut = async (next: Write): Promise<readonly Answer[]> => {
    if ('cells' in next) return call([next.cells], { isTransaction: next.kind === 'transaction' });
    const told = await call(next.kind === 'batched' ? [[next.cell], [next.cell]] : [[next.cell]]);
    if (otherShare > 0 && next.kind === 'put' && told.every(isTold) && random.chance(otherShare))
      await call([[{ ...next.cell, body: { other: true } }]], { isOfRecord: false });
    return told;
  };

  for (let due = performance.now(); control.stopped === undefined;) {
    if (perSecond !== undefined) {
      const pause = due - performance.now();
      if (pause > 0) await sleep(pause);
      begin(carryOut(source.next()).then(() => undefined));
      due += (random.between(0, 2) * 1000) / perSecond;
      continue;
    }
    const told = await carryOut(source.next());
    if (!again && told.some(({ outcome }) => outcome === 'unavailable')) await sleep(REFUSED_PAUSE_MS);
  }
  // Each may begin another one.
  while (underWay.size > 0) await Promise.all(underWay);
}
