import { ROUTES, type Operation } from '../../../shared/api/routes.ts';
import { writeJson, type JsonText } from '../../../shared/body/json.ts';
import { PackedBody } from '../../../shared/body/packed-body.ts';
import { writeMessagePack } from '../../../shared/body/write-message-pack.ts';
import { LIMITS, type Json } from '../../../shared/cell.ts';
import { invalidField } from '../../../shared/errors.ts';
import { answerRoom } from '../../../shared/access/decode.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { Answer } from '../answer.ts';
import { readArray, readMembers } from '../members.ts';
import { problemAnswer, shown, logProblem } from '../problem.ts';
import { pathValue, readQuery, type HttpRequest } from '../request.ts';
import type { HttpOperation } from './operation.ts';
import { soonDone } from './soon-done.ts';

/**
 * How long reads may still take once one of them is done. Those of one group that is slow or away must not hold up the
 * others.
 */
const PATIENCE_MS = 100;

/**
 * POST `{targets: […]}`: many reads, each answered as its own GET would be.
 *
 * @param operations those that can be asked for, all of them of GET
 */
export function batchOfReads(operations: { readonly [operation in Operation]?: HttpOperation }): HttpOperation {
  const templates = ROUTES.flatMap(({ operation, path }): Template[] => {
    const answer = operations[operation];
    return answer === undefined ? [] : [{ parts: path.split('/').slice(3), answer }];
  }).toSorted((one, other) => literals(other) - literals(one));
  const wanted = templates.map(({ parts }) => parts.join('/')).join(', or ');

  function find(target: Json, position: number): Read {
    const text = typeof target === 'string' ? target : '';
    const end = text.indexOf('?');
    const path = end < 0 ? text : text.slice(0, end);
    const values = path.split('/');
    // A path can fit two: that with more words in place of parameters comes first, as routes are chosen.
    const found = templates.find(
      ({ parts }) =>
        parts.length === values.length && parts.every((part, at) => part.startsWith('{') || part === values[at]),
    );
    if (found === undefined) throw invalidField(`targets[${position}]`, wanted, target);
    return { ...found, values, query: end < 0 ? '' : text.slice(end + 1), path };
  }

  return async (request, deployment) => {
    request.query();
    const { targets } = readMembers(request.json(), ['targets']);
    const reads = readArray(targets, 'targets', LIMITS.batchReads).map(find);
    await deployment.datastore(request.path('datastore'));
    // One for all: each by itself may be as long as any answer, and all of them would be in memory together.
    const room = answerRoom();
    const answers = await soonDone(
      // Each is written while others are still waited for.
      reads.map(async (read) => writtenEarly(await answerOf(read, { ...request, room }, deployment))),
      PATIENCE_MS,
    );
    const body = answers.some((one) => one?.bytes) ? inMessagePack(answers) : undefined;
    return {
      status: 200,
      ...(body ? { body, packed: true } : { json: inJson(answers), packed: false }),
      outcomes: answers.flatMap((one) => one?.failure ?? []),
    };
  };
}

/** A path after the datastore, and who answers it. */
interface Template {
  readonly parts: readonly string[];
  readonly answer: HttpOperation;
}

/** One of the reads. */
interface Read extends Template {
  /** What stands in the place of each part, still encoded. */
  readonly values: readonly string[];
  readonly query: string;
  /** For the log. */
  readonly path: string;
}

/**
 * What a read answers, and the code of the failure that is to be counted, if it is one; undefined where there was no
 * room for it.
 */
async function answerOf(
  { answer, parts, values, query, path }: Read,
  whole: HttpRequest,
  deployment: Deployment,
): Promise<(Answer & { readonly failure?: string }) | undefined> {
  const request: HttpRequest = {
    id: whole.id,
    isSigned: whole.isSigned,
    caller: whole.caller,
    packed: whole.packed,
    header: whole.header,
    ...(whole.room && { room: whole.room }),
    path: (name) => (name === 'datastore' ? whole.path(name) : pathValue(values[parts.indexOf(`{${name}}`)], name)),
    query: (names = {}) => readQuery(query, names),
    hasBody: false,
    json: () => null,
  };
  try {
    return await answer(request, deployment);
  } catch (error) {
    const { code, status } = shown(error);
    if (code === 'answer_too_large') return undefined;
    logProblem(error, { request_id: whole.id, path, status });
    return { ...problemAnswer(shown(error), whole.id), ...(status < 500 ? {} : { failure: code }) };
  }
}

function literals({ parts }: Template): number {
  return parts.filter((part) => !part.startsWith('{')).length;
}

/** An answer, written in one of the two ways, or in both. */
interface WrittenRead {
  readonly answer: Answer;
  readonly failure: string | undefined;
  readonly bytes?: Uint8Array | undefined;
  readonly json?: JsonText;
}

function writtenEarly(answer: Awaited<ReturnType<typeof answerOf>>): WrittenRead | undefined {
  if (answer === undefined) return undefined;
  const { failure } = answer;
  const bytes = answer.packed === true ? writeMessagePack(shownRead(answer)) : undefined;
  return bytes ? { answer, failure, bytes } : { answer, failure, json: writeJson(shownRead(answer)) };
}

function shownRead({ status, body }: Answer): object {
  return { status, body };
}

type WrittenReads = readonly (WrittenRead | undefined)[];

/** Undefined where one of them is nothing for MessagePack. */
function inMessagePack(answers: WrittenReads): object | undefined {
  const all = answers.map((one) => one && (one.bytes ?? writeMessagePack(shownRead(one.answer))));
  if (all.some((bytes, position) => bytes === undefined && answers[position] !== undefined)) return undefined;
  const fitting = untilFull(all, (bytes) => bytes.length);
  return { answers: fitting.map((bytes) => (bytes ? new PackedBody(bytes) : null)) };
}

function inJson(answers: WrittenReads): JsonText {
  const all = answers.map((one) => one && (one.json ?? writeJson(shownRead(one.answer))));
  const fitting = untilFull(all, bytesOfText(all));
  return {
    text: `{"answers":[${fitting.map((json) => json?.text ?? 'null').join(',')}]}`,
    isPlain: all.every((json) => json?.isPlain !== false),
  };
}

/** UTF-8 takes three bytes for a UTF-16 unit at most. */
const MOST_BYTES = 3;

/** To measure texts takes a look at each character: not where all of them fit in any case. */
function bytesOfText(texts: readonly (JsonText | undefined)[]): (json: JsonText) => number {
  const units = texts.reduce((sum, json) => sum + (json?.text.length ?? 0), 0);
  return units * MOST_BYTES <= LIMITS.answerBytes ? () => 0 : ({ text }) => Buffer.byteLength(text);
}

/** What an answer has room for, in order; undefined in the place of the others, and of those that are not there. */
function untilFull<Some>(all: readonly (Some | undefined)[], bytesOf: (one: Some) => number): (Some | undefined)[] {
  let left: number = LIMITS.answerBytes;
  return all.map((one) => {
    const bytes = one === undefined ? 0 : bytesOf(one);
    if (bytes > left) return undefined;
    left -= bytes;
    return one;
  });
}
