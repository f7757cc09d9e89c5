/** A thread of writers, each with one write under way at a time, until they are told to stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';
import { CellSource, type Mix, type Write } from './cell-source.ts';
import { openHistory, type History } from './history.ts';
import { Ledger, type Written } from './ledger.ts';
import { openTarget, type WriteTarget } from './write-target.ts';
import type { CellWriter } from './cell-writer.ts';

export interface PutLoad {
  readonly target: WriteTarget;
  /** Writers of this thread, and the number of the first. */
  readonly writers: number;
  readonly first: number;
  readonly seed: string;
  readonly mix: Mix;
  readonly run: string;
  readonly history: string | undefined;
  /** Each writer opens the store by itself, so that nothing joins their appends, as function instances do. @default they share one */
  readonly apart?: boolean | undefined;
}

export interface PutProgress {
  readonly acked: number;
}

const REPORT_MS = 100;
/** Before the next write, when one was not confirmed: whatever is down needs some time. */
const REFUSED_PAUSE_MS = 20;

await runAsWorker<PutLoad, 'stop', PutProgress, Written>(async ({ target, writers, first, seed, mix, run, history: file, apart = false }, control) => {
  await using stores = new AsyncDisposableStack();
  const open = async (): Promise<CellWriter> => stores.use(await openTarget(target));
  const opened = apart ? await Promise.all(Array.from({ length: writers }, open)) : [await open()];
  using history = openHistory(file, run);
  const ledger = new Ledger();
  control.ready();
  const reporting = setInterval(() => control.say({ acked: ledger.size }), REPORT_MS);
  const write = async (place: number): Promise<void> => {
    const number = first + place;
    const writer = opened[place % opened.length] as CellWriter;
    const source = new CellSource(seed, number, mix);
    while (control.stopped === undefined) {
      const done = await carryOut(writer, source.next(), `writer-${number}`, history);
      for (const [cell, result] of done) ledger.note(cell, result);
      if (done.some(([, { outcome }]) => outcome === 'unavailable')) await sleep(REFUSED_PAUSE_MS);
    }
  };
  try {
    await Promise.all(Array.from({ length: writers }, (_, place) => write(place)));
  } finally {
    clearInterval(reporting);
  }
  return ledger.written();
});

async function carryOut(writer: CellWriter, write: Write, process: string, history: History): Promise<(readonly [NewCell, PutResult])[]> {
  if (write.kind === 'put') return [await putOne(writer, write.cell, process, history)];
  if (write.kind === 'together') {
    // Two processes of the history, since their operations overlap. The one that stored it is noted first.
    const both = await Promise.all([putOne(writer, write.cell, process, history), putOne(writer, write.cell, `${process}-twin`, history)]);
    return both.sort(([, one], [, other]) => Number(other.outcome === 'stored') - Number(one.outcome === 'stored'));
  }
  const { cells } = write;
  history.note({ process, type: 'invoke', f: 'batch-put', value: cells.map(toValue) });
  const results = await writer.batchPut(cells);
  const sure = results.every(({ outcome }) => outcome !== 'unavailable');
  history.note({ process, type: sure ? 'ok' : 'info', f: 'batch-put', value: results.map((result) => ({ ...result })) });
  return cells.map((cell, place) => [cell, results[place] as PutResult]);
}

async function putOne(writer: CellWriter, cell: NewCell, process: string, history: History): Promise<readonly [NewCell, PutResult]> {
  history.note({ process, type: 'invoke', f: 'put', value: toValue(cell) });
  const result = await writer.put(cell);
  const type = result.outcome === 'unavailable' ? 'info' : result.outcome === 'conflict' ? 'fail' : 'ok';
  history.note({ process, type, f: 'put', value: { ...result } });
  return [cell, result];
}

function toValue({ row_key, column_name, ref_key, body }: NewCell) {
  return { row_key, column_name, ref_key, body };
}
