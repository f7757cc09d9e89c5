/** A thread of puts at a steady rate, whatever their answers take, until it is told to stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { Random } from '../../support/random.ts';
import { CellSource } from '../load/cell-source.ts';
import { openHistory } from '../load/history.ts';
import { Ledger, type Written } from '../load/ledger.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';

export interface PacedLoad {
  readonly access: StoreAccess;
  /** Puts of new cells, to all groups together. */
  readonly perSecond: number;
  readonly seed: string;
  /** Name of the run in histories. */
  readonly run: string;
  readonly history: string | undefined;
}

export interface PacedProgress {
  readonly acked: number;
}

/** One put. */
export interface PacedWrite {
  /** Milliseconds since 1970, by a clock that all threads share. */
  readonly sentAt: number;
  readonly milliseconds: number;
  readonly row_key: string;
  readonly shard: number;
  readonly outcome: PutResult['outcome'];
}

export interface PacedWritten {
  readonly written: Written;
  /** In the order in which they were answered. */
  readonly writes: readonly PacedWrite[];
}

const REPORT_MS = 100;

await runAsWorker<PacedLoad, 'stop', PacedProgress, PacedWritten>(async ({ access, perSecond, seed, run, history: file }, control) => {
  await using store = await openStore(access);
  using history = openHistory(file, run);
  const source = new CellSource(seed, 0, { batchShare: 0, batchSize: 1, repeatShare: 0 });
  const random = new Random(seed, 'pace', 0);
  const ledger = new Ledger();
  const writes: PacedWrite[] = [];
  const underWay = new Set<Promise<void>>();
  /** Names for the history, in which nobody does two things at once. */
  const idle: number[] = [];

  const put = async (cell: NewCell): Promise<void> => {
    const name = idle.pop() ?? underWay.size;
    const process = `paced-${name}`;
    history.note({ process, type: 'invoke', f: 'put', value: { ...cell } });
    const begun = performance.now();
    const result = await store.datastore.put(cell);
    const milliseconds = performance.now() - begun;
    history.note({ process, type: result.outcome === 'unavailable' ? 'info' : result.outcome === 'conflict' ? 'fail' : 'ok', f: 'put', value: { ...result } });
    idle.push(name);
    ledger.note(cell, result);
    writes.push({ sentAt: performance.timeOrigin + begun, milliseconds, row_key: cell.row_key, shard: result.shard, outcome: result.outcome });
  };

  control.ready();
  const reporting = setInterval(() => control.say({ acked: ledger.size }), REPORT_MS);
  for (let due = performance.now(); control.stopped === undefined; due += (random.between(0, 2) * 1000) / perSecond) {
    const pause = due - performance.now();
    if (pause > 0) await sleep(pause);
    const write = source.next();
    if (write.kind !== 'put') throw new Error(`wanted a put, got ${write.kind}`);
    const done: Promise<void> = put(write.cell).finally(() => underWay.delete(done));
    underWay.add(done);
  }
  await Promise.all(underWay);
  clearInterval(reporting);
  return { written: ledger.written(), writes };
});
