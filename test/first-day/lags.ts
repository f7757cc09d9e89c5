import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SchemalessClient } from '../../shared/client/client.ts';
import type { Found } from '../../shared/contract/datastore.ts';
import { timesOf, type Section } from './figure.ts';

const LOOK_MS = 5;
/** Workers may have to be started first, once a minute, and the function too. */
const PATIENCE_MS = 90_000;
const WARM = 5;

/**
 * How soon a trigger's function has answered a cell, and a reader shows one.
 *
 * @param others a client that has written nothing: one that has sends what it wrote last with its reads
 */
export async function measureLags(
  client: SchemalessClient,
  others: SchemalessClient,
  samples: number,
): Promise<Section> {
  const [byLog, seen, readers]: [number[], number[], number[]] = [[], [], []];
  for (let sample = 0; sample < WARM + samples; sample += 1) {
    const row_key = randomUUID();
    const [call, echo] = ['CALL', 'ECHO'].map((column_name) => ({ row_key, column_name, ref_key: 0 })) as [At, At];
    await client.put({ ...call, body: sample });
    const start = performance.now();
    const [, answer] = await Promise.all([
      untilFound(() => others.get(call, { read: 'reader' })).then(({ at }) => {
        if (sample >= WARM) readers.push(at - start);
      }),
      untilFound(() => client.get(echo)),
    ]);
    if (sample < WARM) continue;
    seen.push(answer.at - start);
    const { cell: called } = await client.get(call);
    byLog.push(Date.parse(answer.createdAt) - Date.parse(called?.created_at ?? ''));
  }
  return {
    title: 'Lags',
    how: `Median, p99 and longest. The log's times are those of one server, since both cells are of one row; the others are seen from here, by asking again and again, the way to the API included.`,
    figures: [
      { what: 'from a cell to the one that its trigger writes, by the log', figure: timesOf(byLog) },
      { what: 'the same, from the answer of the put until it is read', figure: timesOf(seen) },
      { what: 'from the answer of the put until a reader shows the cell', figure: timesOf(readers) },
    ],
  };
}

interface At {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
}

async function untilFound(get: () => Promise<Found>): Promise<{ readonly at: number; readonly createdAt: string }> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { cell } = await get();
    if (cell !== null) return { at: performance.now(), createdAt: cell.created_at };
    if (performance.now() > deadline) throw new Error(`nothing came within ${PATIENCE_MS / 1000} s`);
    await sleep(LOOK_MS);
  }
}
