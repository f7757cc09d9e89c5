export const LEADING_KEYS = 'dynamodb:LeadingKeys';
export const SOURCE_ARN = 'aws:SourceArn';
/** The principal in a function's permission for API Gateway. */
export const API_GATEWAY = 'apigateway.amazonaws.com';

type Comparison = (context: Readonly<Record<string, readonly string[]>>) => boolean;

/** Compiled once for each wanted value. */
const OPERATORS: Readonly<Record<string, (wanted: string) => (got: string) => boolean>> = {
  StringEquals: (wanted) => (got) => got === wanted,
  StringLike: matching,
  ArnEquals: matching,
  ArnLike: matching,
  Bool: (wanted) => (got) => got.toLowerCase() === wanted.toLowerCase(),
};

function matching(wanted: string): (got: string) => boolean {
  const form = pattern(wanted, 'u');
  return (got) => form.test(got);
}

const FORM = /^(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?$/u;

/** AWS compares condition keys without case. */
const KEYS = new Map([LEADING_KEYS, SOURCE_ARN].map((key) => [key.toLowerCase(), key]));

/**
 * Compiles one condition: `ForAllValues:StringLike`, `dynamodb:LeadingKeys`, `['trigger#trips#*']`. As in AWS,
 * `ForAllValues` holds for a call without the key. Throws an Error for an unknown operator or key.
 */
function compareWith(operator: string, written: string, wanted: readonly string[]): Comparison {
  const key = KEYS.get(written.toLowerCase());
  if (key === undefined) throw new Error(`Condition: wanted one of ${[...KEYS.values()].join(', ')}, got ${written}`);
  if (operator === 'Null') return (context) => (context[key] === undefined) === (wanted[0] === 'true');
  const [, quantifier, name = '', ifExists] = FORM.exec(operator) ?? [];
  const isNot = name.startsWith('StringNot') || name.startsWith('ArnNot');
  const compare = OPERATORS[isNot ? name.replace('Not', '') : name];
  if (compare === undefined)
    throw new Error(`Condition: wanted one of Null, ${Object.keys(OPERATORS).join(', ')}, got ${operator}`);
  const compared = wanted.map(compare);
  const fits = (got: string): boolean => compared.some((isLike) => isLike(got)) !== isNot;
  return (context) => {
    const got = context[key];
    if (quantifier === 'ForAllValues') return (got ?? []).every(fits);
    if (got === undefined) return ifExists !== undefined || isNot;
    return quantifier === 'ForAnyValue' ? got.some(fits) : got.length === 1 && got.every(fits);
  };
}

/** Compiles a policy's text: `*` stands for any characters, `?` for one. */
export function pattern(text: string, flags: string): RegExp {
  const escaped = text.replaceAll(/[\\^$.+()|[\]{}]/gu, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, `s${flags}`);
}

/** A policy statement with its intrinsic functions resolved. */
export interface WrittenStatement {
  readonly Effect?: unknown;
  readonly Action?: unknown;
  readonly Resource?: unknown;
  readonly Condition?: unknown;
}

export interface Call {
  readonly action: string;
  /** `*` for an action without a resource. */
  readonly resource: string;
  /** Values by condition key. */
  readonly context?: Readonly<Record<string, readonly string[]>>;
}

export interface Statement {
  readonly isDeny: boolean;
  covers(call: Call): boolean;
}

const JUDGED = ['dynamodb', 'execute-api', 'lambda', 'rds-data', 'secretsmanager', 'sqs'];

function isJudged(action: string): boolean {
  const service = pattern(action.split(':', 1)[0] ?? '', 'iu');
  return JUDGED.some((name) => service.test(name));
}

const MEMBERS = new Set(['Sid', 'Effect', 'Action', 'Resource', 'Condition']);

/** Compiles a statement. Throws an Error for an unknown member (`NotAction`): ignored, it would mislead. */
export function readStatement(written: WrittenStatement): Statement {
  // Services outside this machine are never asked here.
  if (written.Action !== undefined && !textsOf('Action', written.Action).some(isJudged))
    return { isDeny: false, covers: () => false };
  const strange = Object.keys(written).filter((member) => !MEMBERS.has(member));
  if (strange.length > 0) throw new Error(`a statement: wanted ${[...MEMBERS].join(', ')}, got ${strange.join(', ')}`);
  const { Effect, Action, Resource, Condition = {} } = written;
  if (Effect !== 'Allow' && Effect !== 'Deny')
    throw new Error(`Effect: wanted Allow or Deny, got ${JSON.stringify(Effect)}`);
  // Action names have no case; ARNs do.
  const actions = textsOf('Action', Action).map((text) => pattern(text, 'iu'));
  const resources = textsOf('Resource', Resource).map((text) => pattern(text, 'u'));
  const comparisons = Object.entries(Object(Condition) as Readonly<Record<string, unknown>>).flatMap(
    ([operator, keys]): Comparison[] =>
      Object.entries(Object(keys) as Readonly<Record<string, unknown>>).map(([key, values]) =>
        compareWith(operator, key, textsOf(key, values)),
      ),
  );
  return {
    isDeny: Effect === 'Deny',
    covers: ({ action, resource, context = {} }) =>
      actions.some((one) => one.test(action)) &&
      resources.some((one) => one.test(resource)) &&
      comparisons.every((holds) => holds(context)),
  };
}

function textsOf(name: string, value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one) => {
    if (typeof one === 'string' && one.includes('${'))
      throw new Error(`${name}: wanted no policy variable, got ${one}`);
    if (typeof one === 'string') return one;
    if (typeof one === 'boolean' || typeof one === 'number') return String(one);
    throw new Error(`${name}: wanted text, got ${JSON.stringify(one) ?? 'nothing'}`);
  });
}
