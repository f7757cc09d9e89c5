import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../shared/cell.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { openLoop } from '../support/pace.ts';
import { timesOf, type Section } from './page.ts';

interface FailoverLoad {
  /** Calls `send` for each put. Each is of a row of its own, and so of all groups. */
  readonly load: (send: () => void) => Promise<void>;
  /** The number of puts before the failover. */
  readonly breakAfter: number;
  /** How long a buffered cell may take to be appended. */
  readonly patienceMs: number;
}

export interface FailoverWays {
  /** Sends each request once. */
  readonly once: Pick<SchemalessClient, 'put'>;
  /** Repeats what may be repeated. */
  readonly patient: Pick<SchemalessClient, 'get'>;
  /** Brings it about, and returns as soon as it has begun. */
  readonly failOver: () => Promise<void>;
}

interface MeasuredFailover extends Section {
  /** Acknowledged cells that cannot be read, or are others. */
  readonly lost: number;
}

export const FAILOVER = 'A writer that is lost, under load';
/** Two minutes of 20 puts a second; the writer is lost after 15 s. */
const LOAD: FailoverLoad = {
  load: (send) => openLoop({ perSecond: 20, milliseconds: 120_000, send }),
  breakAfter: 300,
  patienceMs: 120_000,
};
const PAUSE_MS = 250;
const READ_AT_ONCE = 8;

interface Answer {
  readonly cell: NewCell;
  readonly outcome: PutResult['outcome'] | 'refused';
  /** From the first put on. */
  readonly sentAt: number;
  readonly took: number;
}

/** Has a group lose its writer under a steady load, and reads all back. */
export async function measureFailover(
  { once, patient, failOver }: FailoverWays,
  { load, breakAfter, patienceMs }: FailoverLoad = LOAD,
): Promise<MeasuredFailover> {
  const answers: Answer[] = [];
  const sent: Promise<void>[] = [];
  const start = performance.now();
  let isOver = false;
  let brokenAt = Number.POSITIVE_INFINITY;
  let breaking: Promise<void> | undefined;
  const send = async (): Promise<void> => {
    const cell = { row_key: randomUUID(), column_name: 'NOTE', ref_key: 0, body: randomUUID() };
    const began = performance.now();
    const outcome = await once.put(cell).then(
      (result) => result.outcome,
      () => 'refused' as const,
    );
    answers.push({ cell, outcome, sentAt: began - start, took: performance.now() - began });
  };
  await load(() => {
    if (isOver) return;
    if (sent.length === breakAfter) {
      brokenAt = performance.now() - start;
      breaking = failOver();
      // A failover that fails ends the load.
      breaking.catch(() => (isOver = true));
    }
    sent.push(send());
  });
  await breaking;
  await Promise.all(sent);

  const of = (...outcomes: readonly string[]): readonly Answer[] =>
    answers.filter(({ outcome }) => outcomes.includes(outcome));
  const acknowledged = of('stored', 'stored_before', 'buffered');
  const unusual = of('buffered', 'unavailable', 'refused').filter(({ sentAt }) => sentAt >= brokenAt);
  const from = Math.min(...unusual.map(({ sentAt }) => sentAt));
  const to = Math.max(...unusual.map(({ sentAt, took }) => sentAt + took));
  const { lost, unread } = await readBack(patient, acknowledged, patienceMs);
  return {
    title: FAILOVER,
    how: '20 puts a second for two minutes, each sent once; the failover starts after 15 s. Then every acknowledged cell is read back. Median, p99 and longest.',
    figures: [
      { what: 'stored', figure: timesOf(of('stored', 'stored_before').map(({ took }) => took)) },
      { what: 'buffered', figure: timesOf(of('buffered').map(({ took }) => took)) },
      { what: 'not confirmed, or refused', figure: timesOf(of('unavailable', 'refused').map(({ took }) => took)) },
      {
        what: 'from the first put that was not stored to the last answer of one',
        figure: unusual.length === 0 ? 'no time' : `${((to - from) / 1000).toFixed(1)} s`,
      },
      { what: 'acknowledged cells that are not there, or are others', figure: `${lost} of ${acknowledged.length}` },
      { what: 'acknowledged cells that nobody could be asked for', figure: String(unread) },
    ],
    lost,
  };
}

async function readBack(
  client: FailoverWays['patient'],
  acknowledged: readonly Answer[],
  patienceMs: number,
): Promise<{ readonly lost: number; readonly unread: number }> {
  const found = { there: 0, lost: 0, unread: 0 };
  const waiting = acknowledged.map(({ cell }) => cell);
  await Promise.all(
    Array.from({ length: READ_AT_ONCE }, async () => {
      for (let cell = waiting.pop(); cell; cell = waiting.pop()) found[await look(client, cell, patienceMs)] += 1;
    }),
  );
  return found;
}

async function look(
  client: FailoverWays['patient'],
  { body, ...address }: NewCell,
  patienceMs: number,
): Promise<'there' | 'lost' | 'unread'> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await client.get(address).catch(() => undefined);
    if (answer?.cell?.body === body) return 'there';
    if (performance.now() > deadline) return answer ? 'lost' : 'unread';
    await sleep(PAUSE_MS);
  }
}
