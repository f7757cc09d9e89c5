import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CellAddress } from '../../shared/cell.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import type { Found, ReadOptions } from '../../shared/contract/datastore.ts';
import { timesOf, type Section } from './page.ts';

export const LAGS = 'Lags';
const POLL_MS = 5;
/** Workers may have to be started first, once a minute, and the function too. */
const PATIENCE_MS = 90_000;
const WARM = 5;

/**
 * Measures how soon a trigger's function has answered a cell, and a reader shows one.
 *
 * @param readers whether there are any
 */
export async function measureLags(client: SchemalessClient, samples: number, readers: boolean): Promise<Section> {
  const [byLog, seen, shown]: [number[], number[], number[]] = [[], [], []];
  for (let sample = 0; sample < WARM + samples; sample += 1) {
    const row_key = randomUUID();
    const [call, echo] = ['CALL', 'ECHO'].map((column_name) => ({ row_key, column_name, ref_key: 0 })) as [
      CellAddress,
      CellAddress,
    ];
    await client.put({ ...call, body: sample });
    const start = performance.now();
    const [reader, answer] = await Promise.allSettled([
      readers ? untilFound(client, call, { read: 'reader' }) : undefined,
      untilFound(client, echo),
    ]);
    if (reader.status === 'rejected') throw reader.reason;
    if (answer.status === 'rejected') throw answer.reason;
    if (sample < WARM) continue;
    if (reader.value) shown.push(reader.value.at - start);
    seen.push(answer.value.at - start);
    const { cell } = await client.get(call);
    byLog.push(Date.parse(answer.value.createdAt) - Date.parse(cell?.created_at ?? ''));
  }
  return {
    title: LAGS,
    how: `Median, p99 and longest. The log's times are those of one server, since both cells are of one row. The others are measured here by polling, and include the network.`,
    results: [
      { what: 'from a cell to the one that its trigger writes, by the log', result: timesOf(byLog) },
      { what: 'the same, from the answer of the put until it is read', result: timesOf(seen) },
      {
        what: 'from the answer of the put until a reader shows the cell',
        result: readers ? timesOf(shown) : 'there are no readers',
      },
    ],
  };
}

/** Polls for a cell, and takes it only from the requested role, as the answer says. */
async function untilFound(
  client: SchemalessClient,
  address: CellAddress,
  options: ReadOptions = {},
): Promise<{ readonly at: number; readonly createdAt: string }> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { cell, served_by }: Found = await client.get(address, options);
    if (cell !== null && served_by === (options.read ?? 'writer'))
      return { at: performance.now(), createdAt: cell.created_at };
    if (performance.now() > deadline)
      throw new Error(
        `${address.column_name} of ${address.row_key} did not come from a ${options.read ?? 'writer'} within ${PATIENCE_MS / 1000} s`,
      );
    await sleep(POLL_MS);
  }
}
