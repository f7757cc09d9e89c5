export const LEADING_KEYS = 'dynamodb:LeadingKeys';
export const SOURCE_ARN = 'aws:SourceArn';
/** The principal in a function's permission for API Gateway. */
export const API_GATEWAY = 'apigateway.amazonaws.com';

type Comparison = (context: Readonly<Record<string, readonly string[]>>) => boolean;

/** AWS compares condition keys without case. */
const KEYS = new Map([LEADING_KEYS, SOURCE_ARN].map((key) => [key.toLowerCase(), key]));

/** The conditions of the app's policies. As in AWS, `ForAllValues` holds for a call without the key. */
const OPERATORS: Readonly<Record<string, (got: readonly string[], isLike: (one: string) => boolean) => boolean>> = {
  'ForAllValues:StringLike': (got, isLike) => got.every(isLike),
  ArnLike: (got, isLike) => got.length === 1 && got.every(isLike),
};

/** Compiles one condition. Throws an Error for an unknown operator or key. */
function compareWith(operator: string, written: string, wanted: readonly string[]): Comparison {
  const key = KEYS.get(written.toLowerCase());
  if (key === undefined) throw new Error(`Condition: wanted one of ${[...KEYS.values()].join(', ')}, got ${written}`);
  const holds = OPERATORS[operator];
  if (!holds) throw new Error(`Condition: wanted one of ${Object.keys(OPERATORS).join(', ')}, got ${operator}`);
  const forms = wanted.map((text) => pattern(text, 'u'));
  return (context) => holds(context[key] ?? [], (one) => forms.some((form) => form.test(one)));
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

const JUDGED = ['dynamodb', 'execute-api', 'lambda', 'rds-data', 'rds-db', 'secretsmanager', 'sqs'];

function isJudged(action: string): boolean {
  const service = pattern(action.split(':', 1)[0] ?? '', 'iu');
  return JUDGED.some((name) => service.test(name));
}

const MEMBERS = new Set(['Sid', 'Effect', 'Action', 'Resource', 'Condition']);

export type Statement = ReturnType<typeof readStatement>;

/** Compiles a statement. Throws an Error for an unknown member (`NotAction`): ignored, it would mislead. */
export function readStatement(written: WrittenStatement) {
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
    covers: ({ action, resource, context = {} }: Call) =>
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
