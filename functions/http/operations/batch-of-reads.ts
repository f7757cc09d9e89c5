import type { Operations } from '../../../shared/api/operation.ts';
import { writeJson, type JsonText } from '../../../shared/body/json.ts';
import type { PackedBody } from '../../../shared/body/packed-body.ts';
import { packedListOf, writeMessagePack } from '../../../shared/body/write-message-pack.ts';
import { LIMITS, type Json } from '../../../shared/cell.ts';
import { invalidField } from '../../../shared/errors.ts';
import { answerRoom } from '../../../shared/access/decode.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import type { LookUpKey } from '../../../shared/store/look-ups.ts';
import type { Answer } from '../answer.ts';
import { checkedFirst, type Answers, type HttpOperation } from '../answering.ts';
import { problemAnswer, shown, logProblem } from '../problem.ts';
import { decodePercent, pathValue, readQuery, type HttpRequest } from '../request.ts';
import type { BatchedReads } from './batched-reads.ts';
import { soonDone } from './soon-done.ts';

/** The time for which finished reads wait for others: a slow group must not delay the rest. */
const PATIENCE_MS = 100;

/**
 * Answers `targets`: many reads, each as its GET would be. `operations`: the allowed ones, all GET. `batched`: answers
 * reads of some operations with the same query in one batch @default each read is answered separately.
 */
export function batchOfReads<Some extends Operations>(
  operations: Some,
  answersOf: Answers<Some, Deployment>,
  batched?: BatchedReads,
): (
  asked: { readonly datastore: string; readonly targets: readonly Json[] },
  request: HttpRequest,
  deployment: Deployment,
) => Promise<Answer> {
  const templates = Object.entries(operations)
    .map(([name, operation]): Template => {
      const parts = operation.path.split('/').slice(3);
      const places = new Map(parts.flatMap((part, place) => (isParameter(part) ? [[part.slice(1, -1), place]] : [])));
      const answer = checkedFirst(operation, answersOf[name as keyof Some] as never);
      return { parts, places, answer, keyOf: batched?.keyOf[name] };
    })
    .toSorted((one, other) => literals(other) - literals(one));
  const wanted = templates.map(({ parts }) => parts.join('/')).join(', or ');

  function find(target: Json, position: number): Read {
    const text = typeof target === 'string' ? target : '';
    const end = text.indexOf('?');
    const path = end < 0 ? text : text.slice(0, end);
    const values = path.split('/');
    // If a path fits two templates, the one with more literal parts wins, as for routes.
    const template = templates.find(
      ({ parts }) =>
        parts.length === values.length && parts.every((part, at) => isParameter(part) || part === values[at]),
    );
    if (template === undefined) throw invalidField(`targets[${position}]`, wanted, target);
    return { position, template, values, query: end < 0 ? '' : text.slice(end + 1), path };
  }

  return async ({ datastore, targets }, request, deployment) => {
    const reads = targets.map(find);
    await deployment.datastore(datastore);
    // They share one room: each alone may be as long as any answer, and all are in memory at the same time.
    const whole = { ...request, room: answerRoom() };
    const answers = await soonDone<WrittenRead>(reads.length, PATIENCE_MS, async (tell) => {
      // Each is encoded while others are still awaited.
      const answered = (read: Read, answer: () => Answer): void =>
        tell(read.position, writtenRead(read, answer, whole));
      const byQuery = new Map<string, BatchedRequest>();
      const alone: Read[] = [];
      for (const read of reads) {
        if (read.template.keyOf === undefined) alone.push(read);
        else askBatched(byQuery, read, whole, answered);
      }
      await Promise.all([
        ...alone.map(async (read) => answered(read, await settled(answerAlone(read, whole, deployment)))),
        ...[...byQuery].map(([query, some]) =>
          answerBatched(batched as BatchedReads, some, requestOf(whole, query), deployment, answered),
        ),
      ]);
    });
    const body = answers.some((one) => one?.bytes) ? inMessagePack(answers) : undefined;
    return {
      status: 200,
      ...(body ? { body, packed: true } : { json: inJson(answers), packed: false }),
      outcomes: answers.flatMap((one) => one?.failure ?? []),
    };
  };
}

/** A path after the datastore, and the operation that answers it. */
interface Template {
  readonly parts: readonly string[];
  /** The position of each parameter in the path, by name. */
  readonly places: ReadonlyMap<string, number>;
  readonly answer: HttpOperation<Deployment>;
  /** Returns the key of a read that is answered in a batch. */
  readonly keyOf: ((read: Pick<HttpRequest, 'path'>) => LookUpKey) | undefined;
}

interface Read {
  readonly position: number;
  readonly template: Template;
  /** The parts of the path, still encoded. */
  readonly values: readonly string[];
  readonly query: string;
  readonly path: string;
}

/** Receives the answer of a read, as a function that returns or throws. */
type Answered = (read: Read, answer: () => Answer) => void;

/** Reads that are answered in one batch, and the key of each. */
interface BatchedRequest {
  readonly reads: Read[];
  readonly keys: LookUpKey[];
}

function askBatched(byQuery: Map<string, BatchedRequest>, read: Read, whole: HttpRequest, answered: Answered): void {
  const { template, query } = read;
  let key: LookUpKey | undefined;
  try {
    key = template.keyOf?.({ path: pathOf(read, whole) });
  } catch (error) {
    return answered(read, throwing(error));
  }
  const some = byQuery.get(query) ?? { reads: [], keys: [] };
  byQuery.set(query, some);
  some.reads.push(read);
  some.keys.push(key as LookUpKey);
}

async function answerBatched(
  batched: BatchedReads,
  { reads, keys }: BatchedRequest,
  request: HttpRequest,
  deployment: Deployment,
  answered: Answered,
): Promise<void> {
  const waiting = new Set(reads);
  const tell = (read: Read, answer: () => Answer): void => {
    waiting.delete(read);
    answered(read, answer);
  };
  try {
    await batched.answer(keys, request, deployment, (position, answer) => tell(reads[position] as Read, answer));
  } catch (error) {
    for (const read of waiting) answered(read, throwing(error));
  }
}

async function answerAlone(read: Read, whole: HttpRequest, deployment: Deployment): Promise<Answer> {
  return read.template.answer({ ...requestOf(whole, read.query), path: pathOf(read, whole) }, deployment);
}

/** Returns the request of a GET with such a query. */
function requestOf(whole: HttpRequest, query: string): HttpRequest {
  return { ...whole, query: (names = {}) => readQuery(query, names), hasBody: false, json: () => null };
}

function pathOf({ template, values }: Read, whole: HttpRequest): HttpRequest['path'] {
  const valueOf = (name: string): string => decodePercent(values[template.places.get(name) ?? -1] ?? '', name);
  return (name) => (name === 'datastore' ? whole.path(name) : pathValue(valueOf(name), name));
}

async function settled(answering: Promise<Answer>): Promise<() => Answer> {
  try {
    const answer = await answering;
    return () => answer;
  } catch (error) {
    return throwing(error);
  }
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

/** Returns a read's encoded answer, and the failure to count; undefined if there is no room for it. */
function writtenRead({ path }: Read, answer: () => Answer, whole: HttpRequest): WrittenRead | undefined {
  try {
    return written(answer(), undefined);
  } catch (error) {
    const { code, status } = shown(error);
    if (code === 'answer_too_large') return undefined;
    logProblem(error, { request_id: whole.id, path, status });
    return written(problemAnswer(shown(error), whole.id), status < 500 ? undefined : code);
  }
}

function written(answer: Answer, failure: string | undefined): WrittenRead {
  const bytes = answer.packed === true ? writeMessagePack(shownRead(answer)) : undefined;
  return { answer, failure, ...(bytes ? { bytes } : { json: writeJson(shownRead(answer)) }) };
}

function literals({ parts }: Template): number {
  return parts.filter((part) => !isParameter(part)).length;
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}

/** An answer in one encoding, or in both. */
interface WrittenRead {
  readonly answer: Answer;
  readonly failure: string | undefined;
  readonly bytes?: Uint8Array | undefined;
  readonly json?: JsonText;
}

function shownRead({ status, body }: Answer): object {
  return { status, body };
}

type WrittenReads = readonly (WrittenRead | undefined)[];

/** Returns undefined if MessagePack cannot encode one of them. */
function inMessagePack(answers: WrittenReads): PackedBody | undefined {
  const all = answers.map((one) => one && (one.bytes ?? writeMessagePack(shownRead(one.answer))));
  if (all.some((bytes, position) => bytes === undefined && answers[position] !== undefined)) return undefined;
  return packedListOf(
    'answers',
    untilFull(all, (bytes) => bytes.length),
  );
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

/** Measuring reads each character, so it is skipped if all texts fit in any case. */
function bytesOfText(texts: readonly (JsonText | undefined)[]): (json: JsonText) => number {
  const units = texts.reduce((sum, json) => sum + (json?.text.length ?? 0), 0);
  return units * MOST_BYTES <= LIMITS.answerBytes ? () => 0 : ({ text }) => Buffer.byteLength(text);
}

/** Keeps the items that an answer has room for, in order; undefined for the others and for missing ones. */
function untilFull<Some>(all: readonly (Some | undefined)[], bytesOf: (one: Some) => number): (Some | undefined)[] {
  let left: number = LIMITS.answerBytes;
  return all.map((one) => {
    const bytes = one === undefined ? 0 : bytesOf(one);
    if (bytes > left) return undefined;
    left -= bytes;
    return one;
  });
}
