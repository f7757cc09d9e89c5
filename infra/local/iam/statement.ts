import { compareWith, type Comparison } from './condition.ts';
import { pattern } from './pattern.ts';

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
