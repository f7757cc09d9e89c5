import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import { tail } from '../../../shared/client/tail.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { gateway } from '../../functions/support/gateway.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const RESTARTS = 10;
const CELLS = 40;
const WRITERS = 4;

const answer = gateway(fakeDeployment());
const [dead, port] = [await freePort(), await freePort()];
let api: Server;
let isDying = false;
let lost = 0;

async function start(): Promise<void> {
  isDying = false;
  api = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const body = await text(request).catch(() => '');
    const { status, headers, bytes } = await answer({ method, path: url, ...(body !== '' && { body }) });
    if (isDying) {
      lost += 1;
      return void response.destroy();
    }
    response.writeHead(status, headers as Record<string, string>).end(bytes);
  });
  await new Promise<void>((resolve) => void api.listen(port, '127.0.0.1', resolve));
}

/** @param losing so many requests are done, and their answers lost */
async function kill(losing = 0): Promise<void> {
  isDying = true;
  const before = lost;
  await until('answers are lost', () => lost >= before + losing);
  const closed = new Promise((resolve) => void api.close(resolve));
  api.closeAllConnections();
  await closed;
}
beforeEach(start);
afterEach(() => kill());

const client = (options: Partial<ClientOptions> = {}) =>
  schemalessClient({ url: [dead, port].map((one) => `http://127.0.0.1:${one}`), datastore: 'trips', ...options });
const rows = Array.from({ length: 20 }, () => randomUUID());
const cellOf = (column_name: string, ref_key: number): NewCell => ({
  row_key: rows[ref_key % rows.length] ?? '',
  column_name,
  ref_key,
  body: { column_name, ref_key },
});
const addressOf = ({ row_key, column_name, ref_key }: Omit<NewCell, 'body'>): string =>
  `${row_key}/${column_name}/${ref_key}`;

it('an API that is killed again and again costs a caller with a deadline no error, no cell, and no cell twice', async () => {
  const trips = client({ deadlineMs: 120_000 });
  const stop = new AbortController();
  const written: NewCell[] = [];
  const outcomes = new Set<string>();
  const write = async (column: string): Promise<void> => {
    for (let number = 0; !stop.signal.aborted; number += 1) {
      const cell = cellOf(column, number);
      outcomes.add((await trips.put(cell)).outcome);
      written.push(cell);
    }
  };
  function* many(): Generator<NewCell> {
    for (let number = 0; !stop.signal.aborted; number += 1) yield cellOf('MANY', number);
  }
  const writing = Array.from({ length: WRITERS }, (_, writer) => write(`WRITER ${writer}`));
  const puttingAll = putAll(trips, many(), {
    concurrency: 2,
    onResult: ({ cell, result }) => result && written.push(cell),
  });
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    const before = written.length;
    await until('cells are written', () => written.length >= before + CELLS);
    await kill(2);
    await start();
  }
  stop.abort();
  await Promise.all(writing);
  expect(await puttingAll).toMatchObject({ conflict: 0 });
  // A cell that was stored as its answer was lost is stored before when it is sent again.
  outcomes.delete('stored');
  expect([...outcomes]).toEqual(['stored_before']);
  const found = (await Array.fromAsync(tail(trips, { from: 'start', follow: false }))).map(({ cell }) =>
    addressOf(cell),
  );
  expect(found.toSorted()).toEqual(written.map(addressOf).toSorted());
});

it('without retries it costs a caller an error', async () => {
  await kill();
  await expect(client({ attempts: 1 }).put(cellOf('CONTROL', 0))).rejects.toMatchObject({ code: 'unavailable' });
  await start();
  await expect(client({ attempts: 1 }).put(cellOf('CONTROL', 0))).resolves.toMatchObject({ outcome: 'stored' });
});
