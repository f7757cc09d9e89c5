import { DataApiException, invalidMember, unexpected } from './exceptions.ts';
import { parseExactly } from './exact-json.ts';
import type { Parameter } from './field.ts';
import type { Limits } from './limits.ts';
import { readParameters } from './read-parameters.ts';

/** The members that every operation has. */
export interface Target {
  readonly resourceArn: string;
  readonly secretArn: string;
  readonly database: string | undefined;
  readonly transactionId: string | undefined;
}

export interface ExecuteRequest extends Target {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  readonly includeResultMetadata: boolean;
  readonly continueAfterTimeout: boolean;
  readonly asJson: boolean;
  readonly longAsString: boolean;
  readonly decimalAsNumber: boolean;
}

interface BatchRequest extends Target {
  readonly sql: string;
  readonly parameterSets: readonly (readonly Parameter[])[];
}

type Members = Readonly<Record<string, unknown>>;

const ARN = { min: 11, max: 100 };
const DATABASE_MAX = 64;
const TRANSACTION_ID_MAX = 192;

/** The body's members. Throws a `DataApiException` where it is no JSON object. */
export function readMembers(body: Buffer): Members {
  let value: unknown;
  try {
    value = body.length === 0 ? {} : parseExactly(body.toString('utf8'));
  } catch (cause) {
    throw new DataApiException(
      'SerializationException',
      `The request body is not JSON: ${cause instanceof Error ? cause.message : ''}`,
      { cause },
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DataApiException('SerializationException', 'Start of structure or map found where not expected.');
  return value as Members;
}

export function readTarget(members: Members, limits: Limits): Target {
  const resourceArn = required(members, 'resourceArn');
  const secretArn = required(members, 'secretArn');
  const database = optionalString(members, 'database');
  const transactionId = optionalString(members, 'transactionId');
  if (limits.argumentLengths) {
    for (const [member, value] of Object.entries({ resourceArn, secretArn })) {
      if (value.length < ARN.min)
        throw invalidMember(member, `'${value}'`, `Member must have length greater than or equal to ${ARN.min}`);
      checkLength(member, value, ARN.max);
    }
    if (database !== undefined) checkLength('database', database, DATABASE_MAX);
  }
  if (transactionId !== undefined) checkLength('transactionId', transactionId, TRANSACTION_ID_MAX);
  if (limits.noSchema && optionalString(members, 'schema') !== undefined)
    throw new DataApiException('ValidationException', "The schema parameter isn't supported");
  return {
    resourceArn,
    secretArn,
    database: database === '' ? undefined : database,
    transactionId: transactionId === '' ? undefined : transactionId,
  };
}

export function readExecute(members: Members, limits: Limits): ExecuteRequest {
  const options = optionalObject(members, 'resultSetOptions');
  return {
    ...readTarget(members, limits),
    sql: readSql(members, limits),
    parameters: readParameters(members['parameters'], 'parameters'),
    includeResultMetadata: optionalBoolean(members, 'includeResultMetadata'),
    continueAfterTimeout: optionalBoolean(members, 'continueAfterTimeout'),
    asJson: choice(members, 'formatRecordsAs', ['NONE', 'JSON']) === 'JSON',
    longAsString: choice(options, 'longReturnType', ['LONG', 'STRING']) === 'STRING',
    decimalAsNumber: choice(options, 'decimalReturnType', ['STRING', 'DOUBLE_OR_LONG']) === 'DOUBLE_OR_LONG',
  };
}

export function readBatch(members: Members, limits: Limits): BatchRequest {
  const sets = members['parameterSets'] ?? [];
  if (!Array.isArray(sets)) throw unexpected('parameterSets', 'a list', sets);
  return {
    ...readTarget(members, limits),
    sql: readSql(members, limits),
    parameterSets: sets.map((set, index) => readParameters(set, `parameterSets.${index + 1}.member`)),
  };
}

/** The transaction that a commit or rollback is about. */
export function readTransaction(members: Members, limits: Limits): Target & { readonly transactionId: string } {
  return { ...readTarget(members, limits), transactionId: required(members, 'transactionId') };
}

function readSql(members: Members, limits: Limits): string {
  const sql = required(members, 'sql');
  if (sql.length > limits.sqlCharacters) throw tooLong('sql', limits.sqlCharacters);
  return sql;
}

function required(members: Members, member: string): string {
  const value = optionalString(members, member);
  if (value === undefined) throw invalidMember(member, 'null', 'Member must not be null');
  return value;
}

function optionalString(members: Members, member: string): string | undefined {
  const value = members[member] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw unexpected(member, 'a string', value);
}

function optionalBoolean(members: Members, member: string): boolean {
  const value = members[member] ?? false;
  if (typeof value !== 'boolean') throw unexpected(member, 'a boolean', value);
  return value;
}

function optionalObject(members: Members, member: string): Members {
  const value = members[member] ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) throw unexpected(member, 'a structure', value);
  return value as Members;
}

function choice(members: Members, member: string, choices: readonly string[]): string | undefined {
  const value = optionalString(members, member);
  if (value !== undefined && !choices.includes(value))
    throw invalidMember(member, `'${value}'`, `Member must satisfy enum value set: [${choices.join(', ')}]`);
  return value;
}

function checkLength(member: string, value: string, max: number): void {
  if (value.length > max) throw tooLong(member, max);
}

function tooLong(member: string, max: number): DataApiException {
  return invalidMember(member, '(too long to repeat)', `Member must have length less than or equal to ${max}`);
}
