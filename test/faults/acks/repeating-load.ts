/** A thread of writers that ask again until they are told what became of their cells, until it is told to stop. */
import type { Json, NewCell, PutResult } from '../../../shared/cell.ts';
import { Random } from '../../support/random.ts';
import { CellSource, type Mix } from '../load/cell-source.ts';
import { openHistory } from '../load/history.ts';
import type { Written } from '../load/ledger.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';
import { asker, askUntilTold, isTold, type Answer } from './ask.ts';
import { OverlappingLedger } from './overlapping-ledger.ts';
import { withoutSecondTry } from './without-second-try.ts';

export interface RepeatingLoad {
  readonly access: StoreAccess;
  /** Writers of this thread, and the number of the first. */
  readonly writers: number;
  readonly first: number;
  readonly seed: string;
  readonly mix: Mix;
  /** Share of the single cells at whose address another body is tried, once the first is confirmed. */
  readonly otherShare: number;
  /** What is unclear is tried again: by the store on a fresh connection, and by the writers. */
  readonly triesAgain: boolean;
  /** Name of the run in histories. */
  readonly run: string;
  readonly history: string | undefined;
}

export interface RepeatingProgress {
  readonly acked: number;
}

export interface Repeated {
  readonly written: Written;
  readonly answers: readonly Answer[];
  /** Times that a circuit of the store opened. */
  readonly circuitsOpened: number;
}

const REPORT_MS = 100;
/** Some ask again at once, others when the drain has been there: it takes rows that are two seconds old. */
const PATIENCE = { leastMs: 20, mostMs: 4000, wholeMs: 60_000 };

await runAsWorker<RepeatingLoad, 'stop', RepeatingProgress, Repeated>(async ({ access, writers, first, seed, mix, otherShare, triesAgain, run, history: file }, control) => {
  let circuitsOpened = 0;
  await using store = await openStore(access, {
    ...(triesAgain ? {} : { wrap: withoutSecondTry }),
    report: ({ kind }) => void (circuitsOpened += Number(kind === 'circuit_opened')),
  });
  using history = openHistory(file, run);
  const ledger = new OverlappingLedger();
  const answers: Answer[] = [];
  const repeats: Promise<readonly Answer[]>[] = [];

  const write = async (number: number): Promise<void> => {
    const source = new CellSource(seed, number, mix);
    const random = new Random(seed, 'repeats', number);
    const note = (cell: NewCell, result: PutResult): void => {
      // What the ledger knows of is confirmed: a conflict is the truth where another body was tried.
      if (!isOther(cell)) ledger.note(cell, result);
    };
    const ask = asker(store.datastore, `writer-${number}`, history, note);
    const askOn = async (cells: readonly NewCell[]): Promise<readonly Answer[]> => {
      const told = await ask(cells);
      answers.push(...told);
      if (triesAgain && !told.every(isTold)) {
        // Its writer goes on meanwhile.
        repeats.push(askUntilTold(ask, cells, told, random, PATIENCE));
      }
      return told;
    };
    while (control.stopped === undefined) {
      const next = source.next();
      if (next.kind === 'batch') await askOn(next.cells);
      else if (next.kind === 'together') await Promise.all([askOn([next.cell]), askOn([next.cell])]);
      else {
        const told = await askOn([next.cell]);
        if (told.every(isTold) && random.chance(otherShare)) await askOn([otherBody(next.cell)]);
      }
    }
  };

  control.ready();
  const reporting = setInterval(() => control.say({ acked: ledger.size }), REPORT_MS);
  await Promise.all(Array.from({ length: writers }, (_, place) => write(first + place)));
  answers.push(...(await Promise.all(repeats)).flat());
  clearInterval(reporting);
  return { written: ledger.written(), answers, circuitsOpened };
});

function otherBody(cell: NewCell): NewCell {
  return { ...cell, body: { other: true } };
}

function isOther({ body }: NewCell): boolean {
  return (body as { readonly [key: string]: Json })['other'] === true;
}
