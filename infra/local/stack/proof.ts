import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sign } from '../../../shared/client/sign-request.ts';

interface ProofOptions {
  readonly url: string;
  readonly datastores: readonly string[];
  readonly readers: boolean;
  readonly sign: Sign;
}

/** The datastore for checks. */
const OWN = 'smoke';
/** No index or trigger covers it. */
const COLUMN = 'STARTED';
/** After a restore, shards stay closed until the drain is done. */
const STORED_MS = 120_000;
/** A busy writer seems unavailable for a moment, and a reader lags. */
const READ_MS = 10_000;
const POLL_MS = 20;
/** Polls slow down on a busy machine. */
const MOST_PAUSE_MS = 500;

/**
 * Shows through the HTTP API that a stack works: writes a cell into `smoke` and reads it from a writer and a reader.
 * Other datastores are only read: a cell would call their users' triggers.
 * Returns a line for each step. Throws an `Error` that says what failed.
 */
export async function prove({ url, datastores, readers, sign }: ProofOptions): Promise<readonly string[]> {
  const ask = async (url: string, put?: object): Promise<Answer> => {
    const request =
      put === undefined
        ? { method: 'GET', headers: {} }
        : { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(put) };
    const response = await fetch(url, {
      ...request,
      headers: await sign({ body: undefined, ...request, url: new URL(url) }),
    });
    return { status: response.status, text: await response.text() };
  };
  if (datastores.includes(OWN))
    return proveByWriting(`${url}/v1/${OWN}/cells/${randomUUID()}/${COLUMN}/1`, readers, ask);
  const [first] = datastores;
  return first === undefined ? [] : proveByReading(`${url}/v1/${first}/shards`, first, readers, ask);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Ask = (url: string, put?: object) => Promise<Answer>;

async function proveByWriting(cell: string, readers: boolean, ask: Ask): Promise<readonly string[]> {
  const body = { started_by: 'npm start' };
  const writing = performance.now();
  // Buffered or not confirmed: a busy server may seem unavailable.
  const isDone = ({ status }: Answer): boolean => status !== 202 && status !== 503;
  const written = await askUntil(() => ask(cell, body), isDone, STORED_MS);
  if (written.status !== 201 && written.status !== 200)
    throw new Error(`A cell could not be written: PUT ${cell} was answered ${written.status} ${written.text}`);
  const { shard, added_id: addedId } = Object(JSON.parse(written.text));
  const lines = [`wrote a cell into the datastore ${OWN}: shard ${shard}, added id ${addedId}, ${since(writing)}`];

  const reading = performance.now();
  const isRead = (answer: Answer): boolean => shows(answer, body, 'writer');
  await demand(ask, cell, isRead, 'The cell could not be read');
  lines.push(`read it from the writer, ${since(reading)}`);
  if (!readers) return lines;

  const fromReader = `${cell}?read=reader&min_added_id=${addedId}`;
  const isSeen = (answer: Answer): boolean => shows(answer, body, 'reader');
  await demand(ask, fromReader, isSeen, `The cell did not reach a reader in ${READ_MS / 1000} s`);
  return [...lines, `read it from a reader, ${since(writing)} after the write began`];
}

async function proveByReading(
  shards: string,
  datastore: string,
  readers: boolean,
  ask: Ask,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const role of readers ? ['writer', 'reader'] : ['writer']) {
    const reading = performance.now();
    const url = `${shards}?read=${role}`;
    const isRead = (answer: Answer): boolean => answer.status === 200 && !answer.text.includes('"error"');
    await demand(ask, url, isRead, `The logs of ${datastore} could not be read`);
    lines.push(`looked where the logs of ${datastore} end, on every group's ${role}, ${since(reading)}`);
  }
  return lines;
}

/** Throws an Error with the last answer if no good one comes in time. */
async function demand(ask: Ask, url: string, isGood: (answer: Answer) => boolean, failure: string): Promise<void> {
  const answer = await askUntil(() => ask(url), isGood, READ_MS);
  if (!isGood(answer)) throw new Error(`${failure}: GET ${url} was answered ${answer.status} ${answer.text}`);
}

/** Repeats a request, ever more slowly, until its answer is good or the time has passed. Returns the last answer. */
async function askUntil(
  ask: () => Promise<Answer>,
  isGood: (answer: Answer) => boolean,
  mostMs: number,
): Promise<Answer> {
  const end = performance.now() + mostMs;
  for (let pause = POLL_MS; ; pause = Math.min(MOST_PAUSE_MS, 2 * pause)) {
    const answer = await ask();
    if (isGood(answer) || performance.now() > end) return answer;
    await sleep(pause);
  }
}

function shows({ status, text }: Answer, body: object, servedBy: string): boolean {
  if (status !== 200) return false;
  const answer = Object(JSON.parse(text));
  return answer.served_by === servedBy && JSON.stringify(answer.body) === JSON.stringify(body);
}

function since(start: number): string {
  return `${(performance.now() - start).toFixed(1)} ms`;
}
