import type { Json } from '../cell.ts';
import type { ErrorCode } from '../errors.ts';
import type { Input, ObjectOf, Of, Shape } from './shape.ts';
import type { Conditions } from './condition.ts';
import type { AnyParameter } from './parameter.ts';
import type { PathValues } from './path.ts';

/** The function in `functions/` that answers. */
export type Handler =
  | 'write-cells'
  | 'read-cells'
  | 'query-index'
  | 'manage-triggers'
  | 'manage-moves'
  | 'erase-cells'
  | 'define-datastores';

/** Callers of an operation. Operators may call all; `console` marks the changes that its page may make. */
export type Caller = 'readers' | 'clients' | 'movers' | 'erasers' | 'console';

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

interface Success {
  readonly means: string;
  readonly body: Shape<object>;
  readonly example: Json;
  /** Whether an answer has this status. @default answers that no other status has */
  readonly when?: (body: never) => boolean;
}

/**
 * An operation of the API, declared once: parser, document, client, policies, routes and `schemaless api` follow from
 * it. Its parameters are those of path, query and body, by name.
 */
export interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly handler: Handler;
  /** Shares a route of the gateway with others of the function: stacks have room for few routes. */
  readonly sharesRoute?: true;
  readonly mayCall: readonly Caller[];
  /** A POST that only reads. */
  readonly reads?: true;
  readonly summary: string;
  readonly more?: string;
  readonly query?: Readonly<Record<string, AnyParameter>>;
  /** Parameters of other names are conditions: `where`. */
  readonly where?: Conditions;
  /** The JSON of the request's body: an object of members, or, with `whole`, a single value. */
  readonly body?: Input<unknown>;
  readonly bodyExample?: Json;
  /** The body is the parameter `body`. */
  readonly whole?: true;
  /** Levels of JSON that the body may have beyond those of a cell's. @default 0 */
  readonly depthAround?: number;
  /** The request may come without a body. */
  readonly mayLackBody?: true;
  readonly answers: Readonly<Record<number, Success>>;
  /** Its answers hold bodies of cells, and are MessagePack for callers that ask for it. */
  readonly bodies?: true;
  /** The client refuses a parameter given as undefined: to omit it would do more than the caller meant. */
  readonly refusesUndefined?: true;
  /** The codes of its own problems, in addition to those of its parameters. @default none */
  readonly errors?: readonly ErrorCode[];
  /** Statuses that differ here from those of their codes. */
  readonly statuses?: Readonly<Partial<Record<ErrorCode, number>>>;
}

export type Operations = Readonly<Record<string, Operation>>;

/** Returns declared operations: checked, with literal types. */
export function operations<const Some extends Operations>(declared: Some): Some {
  return declared;
}

type PathName<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathName<Rest> : never;
type OfPath<Path> = { readonly [Name in PathName<Path> & keyof PathValues]: PathValues[Name] };
type OfQuery<One> = One extends { readonly query: infer Query } ? ObjectOf<Query> : unknown;
type OfWhere<One> = One extends { readonly where: infer Where } ? { readonly where: Of<Where> } : unknown;
type OfBody<One> = One extends { readonly body: infer Body }
  ? One extends { readonly whole: true }
    ? { readonly body: Of<Body> }
    : Of<Body>
  : unknown;
type Flat<Some> = { [Name in keyof Some]: Some[Name] };

/** The parameters of an operation: of path, query and body. */
export type ParametersOf<One extends Operation> = Flat<OfPath<One['path']> & OfQuery<One> & OfWhere<One> & OfBody<One>>;

/** The answer of an operation that succeeds. */
type AnswerOf<One extends Operation> = One['answers'][keyof One['answers'] & number] extends infer Answers
  ? Answers extends { readonly body: infer Body }
    ? Of<Body>
    : never
  : never;

type OfDatastore<One extends Operation> = Omit<ParametersOf<One>, 'datastore'>;
type MethodOf<One extends Operation> =
  Record<string, never> extends OfDatastore<One>
    ? (parameters?: OfDatastore<One>) => Promise<AnswerOf<One>>
    : (parameters: OfDatastore<One>) => Promise<AnswerOf<One>>;

/** Operations as methods, by name: of one datastore, or over HTTP. */
export type Methods<Some extends Operations> = { readonly [Name in keyof Some]: MethodOf<Some[Name]> };
