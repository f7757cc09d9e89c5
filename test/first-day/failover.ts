import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../shared/cell.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { getAll } from '../../shared/client/get-all.ts';
import { openLoop } from '../support/pace.ts';
import { timesOf, type Section } from './page.ts';

interface FailoverLoad {
  /** Calls `send` for each put. Each has its own row, so that they reach all groups. */
  readonly load: (send: () => void) => Promise<void>;
  /** The number of puts before the failover. */
  readonly breakAfter: number;
  /** How long a buffered cell may take to be appended. */
  readonly patienceMs: number;
}

export interface FailoverWays {
  /** Sends each request once. */
  readonly once: Pick<SchemalessClient, 'tryPut'>;
  /** Repeats what may be repeated. */
  readonly patient: Pick<SchemalessClient, 'batchGet' | 'with'>;
  /** Brings it about, and returns as soon as it has begun. */
  readonly failOver: () => Promise<void>;
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
): Promise<Section> {
  const answers: Answer[] = [];
  const sent: Promise<void>[] = [];
  const start = performance.now();
  let isOver = false;
  let brokenAt = Number.POSITIVE_INFINITY;
  let breaking: Promise<void> | undefined;
  const send = async (): Promise<void> => {
    const cell = { row_key: randomUUID(), column_name: 'NOTE', ref_key: 0, body: randomUUID() };
    const began = performance.now();
    const outcome = await once.tryPut(cell).then(
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
    results: [
      { what: 'stored', result: timesOf(of('stored', 'stored_before').map(({ took }) => took)) },
      { what: 'buffered', result: timesOf(of('buffered').map(({ took }) => took)) },
      { what: 'not confirmed, or refused', result: timesOf(of('unavailable', 'refused').map(({ took }) => took)) },
      {
        what: 'from the first put that was not stored to the last answer of one',
        result: unusual.length === 0 ? 'no time' : `${((to - from) / 1000).toFixed(1)} s`,
      },
      { what: 'acknowledged cells that are not there, or are others', result: `${lost} of ${acknowledged.length}` },
      { what: 'acknowledged cells that could not be read', result: String(unread) },
    ],
    ...(lost + unread > 0 && { failure: `acknowledged cells: ${lost} lost, ${unread} unreadable` }),
  };
}

/** Reads cells back, again and again until all are there, or patience ends. */
async function readBack(
  client: FailoverWays['patient'],
  acknowledged: readonly Answer[],
  patienceMs: number,
): Promise<{ readonly lost: number; readonly unread: number }> {
  let left = acknowledged.map(({ cell }) => cell);
  for (const deadline = performance.now() + patienceMs; ;) {
    const items = await getAll(client, left, { concurrency: READ_AT_ONCE, tries: 1 });
    const isThere = (at: number): boolean => Object(items[at]).body === left[at]?.body;
    const missing = [...left.keys()].filter((at) => !isThere(at));
    if (missing.length === 0 || performance.now() > deadline) {
      const unread = missing.filter((at) => 'error' in Object(items[at])).length;
      return { lost: missing.length - unread, unread };
    }
    left = missing.map((at) => left[at] as NewCell);
    await sleep(PAUSE_MS);
  }
}
