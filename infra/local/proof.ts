import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sign } from '../../shared/client/sign-request.ts';

export interface ProofOptions {
  readonly url: string;
  readonly datastore: string;
  /** There are readers to read from. */
  readonly readers: boolean;
  readonly sign: Sign;
}

const REPLICATION_MS = 10_000;
const LOOK_MS = 20;

/**
 * Writes a trip through the HTTP API, reads it back from a writer, and from a reader as soon as one has it. Returns
 * what it saw, one line each; throws an `Error` that says what did not work.
 */
export async function prove({ url, datastore, readers, sign }: ProofOptions): Promise<readonly string[]> {
  const cell = `${url}/v1/${datastore}/cells/${randomUUID()}/BASE/1`;
  const body = { rider_uuid: randomUUID(), driver_partner_uuid: randomUUID(), status: 'completed', fare: { total: 23.4, currency: 'USD' }, started_by: 'npm start' };

  const ask = async (place: string, put?: object): Promise<Answer> => {
    const request = put === undefined ? { method: 'GET', headers: {} } : { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(put) };
    const response = await fetch(place, { ...request, headers: await sign({ body: undefined, ...request, url: new URL(place) }) });
    return { status: response.status, text: await response.text() };
  };

  const writing = performance.now();
  const written = await ask(cell, body);
  if (written.status !== 201) throw new Error(`A trip could not be written: PUT ${cell} was answered ${written.status} ${written.text}`);
  const { shard, added_id: addedId } = Object(JSON.parse(written.text));
  const lines = [`wrote a trip: shard ${shard}, added id ${addedId}, ${since(writing)}`];

  const reading = performance.now();
  const read = await ask(cell);
  if (!shows(read, body, 'writer')) throw new Error(`The trip could not be read: GET ${cell} was answered ${read.status} ${read.text}`);
  lines.push(`read it from the writer, ${since(reading)}`);
  if (!readers) return lines;

  const following = performance.now();
  const fromReader = `${cell}?read=reader&min_added_id=${addedId}`;
  let seen = await ask(fromReader);
  while (!shows(seen, body, 'reader')) {
    if (performance.now() - following > REPLICATION_MS) throw new Error(`The trip did not reach a reader in ${REPLICATION_MS / 1000} s: GET ${fromReader} was answered ${seen.status} ${seen.text}`);
    await sleep(LOOK_MS);
    seen = await ask(fromReader);
  }
  return [...lines, `read it from a reader, ${since(writing)} after the write began`];
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function shows({ status, text }: Answer, body: object, servedBy: string): boolean {
  if (status !== 200) return false;
  const answer = Object(JSON.parse(text));
  return answer.served_by === servedBy && JSON.stringify(answer.body) === JSON.stringify(body);
}

function since(start: number): string {
  return `${(performance.now() - start).toFixed(1)} ms`;
}
