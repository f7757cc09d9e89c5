import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeJson } from '../../shared/body/json.ts';
import { lookPauses } from '../../shared/look-pauses.ts';
import type { Answer } from './answer.ts';
import { namesTag, type HttpRequest } from './request.ts';

/** As long as a request may be held: it has to be answered within the 28 s of its function, a slow look included. */
export const LONGEST_WAIT_SECONDS = 20;

/**
 * What is answered to who has an answer already, and waits for another one: `If-None-Match` has the tag of that answer,
 * `Prefer: wait=10` says for how many seconds it may be held back (RFC 7240). It is looked for again and again, and
 * answered as soon as it is another; 304, without a body, once the time is over. `wait=0` asks for the tag alone.
 *
 * @param look reads, and changes nothing
 * @param mostSeconds that a request may be held; 0: it is answered at once, with the tag
 */
export async function onceAnother(
  request: Pick<HttpRequest, 'header'>,
  look: () => Promise<Answer>,
  mostSeconds: number,
): Promise<Answer> {
  const seconds = waitOf(request.header('prefer'), mostSeconds);
  if (seconds === undefined) return look();
  const known = request.header('if-none-match');
  const end = performance.now() + seconds * 1000;
  const pauseAfter = lookPauses();
  for (;;) {
    const began = performance.now();
    const answer = withTag(await look());
    const etag = answer.headers?.['etag'];
    if (etag === undefined || !namesTag(known, etag)) return answer;
    const now = performance.now();
    if (now >= end) return { status: 304, made: NOTHING, headers: answer.headers ?? {} };
    await sleep(Math.min(pauseAfter(now - began), end - now));
  }
}

const NOTHING = { body: '', isBase64Encoded: false };

/** Seconds; undefined where the header says nothing of it. */
function waitOf(prefer: string | undefined, mostSeconds: number): number | undefined {
  const [, seconds] = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:$|[,;])/iu.exec(prefer ?? '') ?? [];
  return seconds === undefined ? undefined : Math.min(mostSeconds, Number(seconds));
}

/** The answer, named by what it says: for its asker alone, since bodies may be in it. What is no JSON, or has a tag of its own, stays as it is. */
function withTag(answer: Answer): Answer {
  if (answer.made !== undefined || answer.packed === true) return answer;
  const json = answer.json ?? writeJson(answer.body);
  const tag = createHash('sha256').update(`${answer.status} ${json.text}`).digest('base64url').slice(0, 22);
  return { ...answer, json, headers: { ...answer.headers, etag: `"${tag}"`, 'cache-control': 'no-store' } };
}
