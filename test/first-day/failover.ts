import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../shared/cell.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { openLoop } from '../support/pace.ts';
import { timesOf, type Section } from './figure.ts';

export interface FailoverLoad {
  /** Puts a second, each of a row of its own, and so of all groups. */
  readonly perSecond: number;
  readonly milliseconds: number;
  /** From the first put on. */
  readonly breakAtMs: number;
  /** For what was buffered to be appended. */
  readonly patienceMs: number;
}

const LOAD: FailoverLoad = { perSecond: 20, milliseconds: 120_000, breakAtMs: 15_000, patienceMs: 120_000 };
const PAUSE_MS = 250;

interface Answer {
  readonly cell: NewCell;
  readonly outcome: PutResult['outcome'] | 'refused';
  /** From the first put on. */
  readonly at: number;
  readonly took: number;
}

/**
 * Has a group lose its writer under a steady load, and reads all back.
 *
 * @param once a client that sends each request once
 * @param failOver brings it about, and returns as soon as it has begun
 */
export async function measureFailover(
  once: Pick<SchemalessClient, 'put' | 'get'>,
  failOver: () => Promise<void>,
  { perSecond, milliseconds, breakAtMs, patienceMs }: FailoverLoad = LOAD,
): Promise<Section> {
  const answers: Answer[] = [];
  const sent: Promise<void>[] = [];
  const start = performance.now();
  const send = async (): Promise<void> => {
    const cell = { row_key: randomUUID(), column_name: 'NOTE', ref_key: 0, body: randomUUID() };
    const began = performance.now();
    const outcome = await once.put(cell).then(
      (result) => result.outcome,
      () => 'refused' as const,
    );
    answers.push({ cell, outcome, at: performance.now() - start, took: performance.now() - began });
  };
  const [broken] = await Promise.all([
    sleep(breakAtMs).then(failOver),
    openLoop({ perSecond, milliseconds, send: () => void sent.push(send()) }),
  ]);
  await Promise.all([...sent, broken]);

  const of = (...outcomes: readonly string[]): readonly Answer[] =>
    answers.filter(({ outcome }) => outcomes.includes(outcome));
  const acknowledged = of('stored', 'stored_before', 'buffered');
  const [unusual, lost] = [of('buffered', 'unavailable', 'refused'), await lostOf(once, acknowledged, patienceMs)];
  const [first, last] = [Math.min(...unusual.map(({ at }) => at)), Math.max(...unusual.map(({ at }) => at))];
  return {
    title: 'A writer that is lost, under load',
    how: `${perSecond} puts a second for ${milliseconds / 1000} s, each sent once; the failover is asked for after ${breakAtMs / 1000} s. Then every cell that was acknowledged is read back.`,
    figures: [
      { what: 'stored', figure: timesOf(of('stored', 'stored_before').map(({ took }) => took)) },
      { what: 'buffered', figure: timesOf(of('buffered').map(({ took }) => took)) },
      { what: 'not confirmed, or refused', figure: timesOf(of('unavailable', 'refused').map(({ took }) => took)) },
      {
        what: 'not all puts were stored for',
        figure: unusual.length === 0 ? 'no time' : `${((last - first) / 1000).toFixed(1)} s`,
      },
      { what: 'acknowledged cells that cannot be read, or are others', figure: `${lost} of ${acknowledged.length}` },
    ],
  };
}

async function lostOf(
  client: Pick<SchemalessClient, 'get'>,
  acknowledged: readonly Answer[],
  patienceMs: number,
): Promise<number> {
  const deadline = performance.now() + patienceMs;
  let lost = 0;
  for (const { cell } of acknowledged) {
    while (!(await isThere(client, cell))) {
      if (performance.now() > deadline) {
        lost += 1;
        break;
      }
      await sleep(PAUSE_MS);
    }
  }
  return lost;
}

async function isThere(client: Pick<SchemalessClient, 'get'>, { body, ...address }: NewCell): Promise<boolean> {
  try {
    return (await client.get(address)).cell?.body === body;
  } catch {
    return false;
  }
}
