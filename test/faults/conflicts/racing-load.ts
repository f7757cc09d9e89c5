/** A thread of writers that race for the same addresses, and of a reader that looks at what was stored. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { shardOf } from '../../../shared/shard.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { Random } from '../../support/random.ts';
import { openHistory } from '../load/history.ts';
import { markOf } from '../load/mark.ts';
import { openStore, type OpenStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';
import { ContestedCells } from './contested-cells.ts';

export interface RacingLoad {
  readonly access: StoreAccess;
  readonly seed: string;
  readonly since: number;
  /** Numbers of its writers. */
  readonly writers: readonly number[];
  /** Off, as a control: copies of refused writes stay where they are. */
  readonly withdraws: boolean;
  readonly run: string;
  readonly history: string | undefined;
}

/** What a writer was told. */
export interface Answer {
  /** Of the cell, its body among it. */
  readonly mark: number;
  /** Of its address alone. */
  readonly address: number;
  readonly outcome: PutResult['outcome'];
  /** Meanwhile a group that was to take a copy, or to give one back, failed. */
  readonly holderFailed: boolean;
}

/** A stored cell, looked at later: it was there with its body, with another one, or not there. */
export interface Sample {
  readonly shard: number;
  readonly seen: 'same' | 'other' | 'missing';
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Raced {
  readonly answers: readonly Answer[];
  readonly samples: readonly Sample[];
}

const REPORT_MS = 100;
const REFUSED_PAUSE_MS = 20;
const SAMPLE_PAUSE_MS = 5;

await runAsWorker<RacingLoad, 'stop', { readonly answers: number }, Raced>(async ({ access, seed, since, writers, withdraws, run, history: file }, control) => {
  let holderFailures = 0;
  await using store = await openStore(access, {
    wrap: withdraws ? (client) => client : withoutWithdrawing,
    report: ({ kind }) => void (holderFailures += kind === 'secondary_failed' ? 1 : 0),
  });
  using history = openHistory(file, run);
  const answers: Answer[] = [];
  const samples: Sample[] = [];
  const stored: NewCell[] = [];
  const reporting = setInterval(() => control.say({ answers: answers.length }), REPORT_MS);
  control.ready();

  const write = async (number: number): Promise<void> => {
    const source = new ContestedCells(seed, number, since);
    const process = `writer-${number}`;
    while (control.stopped === undefined) {
      const cell = source.next();
      const failuresBefore = holderFailures;
      history.note({ process, type: 'invoke', f: 'put', value: { ...cell } });
      const result = await store.datastore.put(cell);
      const { outcome } = result;
      history.note({ process, type: outcome === 'unavailable' ? 'info' : outcome === 'conflict' ? 'fail' : 'ok', f: 'put', value: { ...result } });
      answers.push({ mark: markOf(cell), address: markOf({ ...cell, body: null }), outcome, holderFailed: holderFailures > failuresBefore });
      if (outcome === 'stored') stored.push(cell);
      if (outcome === 'unavailable') await sleep(REFUSED_PAUSE_MS);
    }
  };
  const look = async (): Promise<void> => {
    const random = new Random(seed, 'samples', writers[0] ?? 0);
    while (control.stopped === undefined) {
      const cell = stored[random.integer(0, Math.max(0, stored.length - 1))];
      const sample = cell && (await lookAt(store, cell));
      if (sample) samples.push(sample);
      await sleep(SAMPLE_PAUSE_MS);
    }
  };
  try {
    await Promise.all([...writers.map(write), look()]);
  } finally {
    clearInterval(reporting);
  }
  return { answers, samples };
});

/** Undefined where nobody answered, or nobody who vouches for what he said. */
async function lookAt({ datastore }: OpenStore, cell: NewCell): Promise<Sample | undefined> {
  const at = Date.now();
  const found = await datastore.get(cell).catch(() => undefined);
  if (!found || (found.stale && !found.cell)) return undefined;
  const { cell: there } = found;
  // Cells of one address differ in this field only.
  const bodyOf = ({ body }: Pick<NewCell, 'body'>): unknown => Object(body).body;
  return { shard: shardOf(cell.row_key, datastore.shards), seen: !there ? 'missing' : bodyOf(there) === bodyOf(cell) ? 'same' : 'other', at };
}

/** Swallows what takes copies of refused writes back. */
function withoutWithdrawing(client: SqlClient): SqlClient {
  return { ...client, change: async (statement) => (/writers = writers - 1|WHERE writers = 0/.test(statement.sql) ? { affectedRows: 0, insertId: 0 } : client.change(statement)) };
}
