import { ROUTES, type Operation } from '../../../shared/api/routes.ts';
import { writeJson } from '../../../shared/body/json.ts';
import { LIMITS, type Json } from '../../../shared/cell.ts';
import { invalidField } from '../../../shared/errors.ts';
import { answerRoom } from '../../../shared/access/answer-room.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { Answer } from '../answer.ts';
import { logProblem } from '../log-problem.ts';
import { readArray, readMembers } from '../members.ts';
import { problemAnswer, shown } from '../problem.ts';
import { readQuery } from '../query.ts';
import { pathValue, type HttpRequest } from '../request.ts';
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

  function find(target: Json, place: number): Read {
    const text = typeof target === 'string' ? target : '';
    const end = text.indexOf('?');
    const path = end < 0 ? text : text.slice(0, end);
    const values = path.split('/');
    // A path can fit two: that with more words in place of parameters comes first, as routes are chosen.
    const found = templates.find(
      ({ parts }) =>
        parts.length === values.length && parts.every((part, at) => part.startsWith('{') || part === values[at]),
    );
    if (found === undefined) throw invalidField(`targets[${place}]`, wanted, target);
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
      reads.map(async (read) => {
        const answer = await answerOf(read, { ...request, room }, deployment);
        if (answer === undefined) return undefined;
        const { text, isPlain } = writeJson(answer.body);
        return { text: `{"status":${answer.status},"body":${text}}`, isPlain, failure: answer.failure };
      }),
      PATIENCE_MS,
    );
    const json = {
      text: `{"answers":[${untilFull(answers.map((answer) => answer?.text)).join(',')}]}`,
      isPlain: answers.every((answer) => answer?.isPlain !== false),
    };
    return { status: 200, body: undefined, json, outcomes: answers.flatMap((answer) => answer?.failure ?? []) };
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

/** UTF-8 takes three bytes for a UTF-16 unit at most. */
const MOST_BYTES = 3;

/**
 * The texts that an answer has room for, in order; null in the place of the others, and of those that are not there.
 */
function untilFull(texts: readonly (string | undefined)[]): readonly string[] {
  const units = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  // To measure them takes a look at each character.
  const fitAnyway = units * MOST_BYTES <= LIMITS.answerBytes;
  let left: number = LIMITS.answerBytes;
  return texts.map((text) => {
    if (text === undefined) return 'null';
    const bytes = fitAnyway ? 0 : Buffer.byteLength(text);
    if (bytes > left) return 'null';
    left -= bytes;
    return text;
  });
}
