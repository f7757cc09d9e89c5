import { readConditions } from '../../shared/api/condition.ts';
import type { Methods, Operation, Operations, ParametersOf } from '../../shared/api/operation.ts';
import { namesIn, PATH } from '../../shared/api/path.ts';
import { LIMITS } from '../../shared/cell.ts';
import { missingField } from '../../shared/errors.ts';
import type { Answer } from './answer.ts';
import type { HttpRequest, QueryNames } from './request.ts';

/** Answers an unchecked request. Throws SchemalessError, which the middleware turns into a problem document. */
export type HttpOperation<Over> = (request: HttpRequest, over: Over) => Promise<Answer>;

/** Answers an operation with checked `parameters`. `over`: the object that it works on. */
type Answering<One extends Operation, Over> = (
  parameters: ParametersOf<One>,
  request: HttpRequest,
  over: Over,
) => Promise<Answer>;

export type Answers<Some extends Operations, Over> = { readonly [Name in keyof Some]: Answering<Some[Name], Over> };

/** Returns an operation that checks the whole request before it answers. */
export function checkedFirst<One extends Operation, Over>(
  operation: One,
  answer: Answering<One, Over>,
): HttpOperation<Over> {
  const read = readerOf(operation);
  return async (request, over) => answer(read(request), request, over);
}

/** Returns a reader of an operation's parameters in path, query and body. Its errors name a field. */
function readerOf<One extends Operation>(operation: One): (request: HttpRequest) => ParametersOf<One> {
  const { body, whole, mayLackBody, depthAround = 0 } = operation;
  const [ofPath, ofQuery] = [pathReader(operation), queryReader(operation)];
  const depth = LIMITS.bodyDepth + depthAround;
  return (request) => {
    const read = { ...ofPath(request), ...ofQuery(request) };
    if (body === undefined || (mayLackBody === true && !request.hasBody)) return read as ParametersOf<One>;
    const value = body.read(request.json(depth), 'body');
    return { ...read, ...(whole === true ? { body: value } : (value as object)) } as ParametersOf<One>;
  };
}

type Read = Readonly<Record<string, unknown>>;

/** Returns a reader of the path's parameters. */
export function pathReader({ path }: Operation): (request: Pick<HttpRequest, 'path'>) => Read {
  const names = namesIn(path);
  return (request) => {
    const read: Record<string, unknown> = {};
    for (const name of names) read[name] = PATH[name].read(request.path(name), name);
    return read;
  };
}

/** Returns a reader of the query's parameters. */
export function queryReader({ query = {}, where }: Operation): (request: Pick<HttpRequest, 'query'>) => Read {
  const parameters = Object.entries(query);
  const names: QueryNames = {
    once: parameters.filter(([, { isRepeated }]) => isRepeated !== true).map(([name]) => name),
    repeated: parameters.filter(([, { isRepeated }]) => isRepeated === true).map(([name]) => name),
    others: where !== undefined,
  };
  return (request) => {
    const { texts, others } = request.query(names);
    const read: Record<string, unknown> = {};
    for (const [name, parameter] of parameters) {
      const came = texts(name);
      if (came !== undefined) read[name] = parameter.read(came, name);
      else if (parameter.wanted !== undefined) throw missingField(name, parameter.wanted);
    }
    return where === undefined ? read : { ...read, where: readConditions(others) };
  };
}

/** Answers operations by the methods of the same names of the object that `of` returns for a request's datastore. */
export function answeredBy<Some extends Operations, Over>(
  operations: Some,
  of: (over: Over, datastore: string, request: HttpRequest) => Promise<Methods<Some>>,
): Answers<Some, Over> {
  const entries = Object.entries(operations).map(([name, operation]) => {
    const answer: Answering<Operation, Over> = async (read, request, over) => {
      const { datastore = '', ...parameters } = read as { readonly datastore?: string };
      const methods = (await of(over, datastore, request)) as Methods<Operations>;
      return answerWith(operation, await (methods[name] as Method)(parameters));
    };
    return [name, answer];
  });
  return Object.fromEntries(entries) as Answers<Some, Over>;
}

type Method = (parameters: object) => Promise<object>;

/** Returns the answer of an operation with a body, and the status for it. */
export function answerWith({ answers }: Operation, body: object): Answer {
  const statuses = Object.entries(answers);
  const [status] =
    statuses.find(([, { when }]) => when?.(body as never) === true) ??
    statuses.find(([, { when }]) => when === undefined) ??
    [];
  return { status: Number(status), body };
}
