import { addressesOf, describeResource, type LoadedStack, type ResourceAddress } from './template.ts';
import { messageOf } from '../message-of.ts';
import { localArn, PSEUDO } from '../arn.ts';

export interface ResourceValues {
  ref(address: ResourceAddress): string;
  /** Throws for an unknown attribute. */
  attribute(address: ResourceAddress, name: string): unknown;
  secret(id: string): string;
}

export type Resolver = ReturnType<typeof createResolver>;

export function createResolver(stacks: readonly LoadedStack[], values: ResourceValues) {
  const resources = addressesOf(stacks);
  const conditional = resources.find(({ resource: { Condition } }) => Condition !== undefined);
  if (conditional) throw new Error(`${describeResource(conditional)}: wanted no condition, which is not judged here`);
  const exported = new Map(
    stacks.flatMap((stack) =>
      Object.values(stack.template.Outputs ?? {}).flatMap(({ Export, Value }) =>
        Export ? [[resolve(Export.Name, scopeOf(stack)), () => resolve(Value, scopeOf(stack))] as const] : [],
      ),
    ),
  );

  function scopeOf(stack: LoadedStack): Scope {
    const { template } = stack;
    const addressOf = (logicalId: string): ResourceAddress => {
      const resource = template.Resources[logicalId];
      if (!resource) throw new Error(`${stack.name} has no resource ${logicalId}`);
      return { stack, logicalId, resource };
    };
    return {
      stackName: stack.name,
      ref: (name) => {
        const parameter = template.Parameters?.[name];
        return parameter ? parameter.Default : values.ref(addressOf(name));
      },
      attribute: (logicalId, attribute) => values.attribute(addressOf(logicalId), attribute),
      imported: (name) => {
        const value = exported.get(name);
        if (!value) throw new Error(`No stack of the app exports ${name}`);
        return value();
      },
    };
  }

  return {
    resources,
    /** Undefined if it is not set. */
    property(address: ResourceAddress, name: string): unknown {
      try {
        return withSecrets(resolve(address.resource.Properties?.[name], scopeOf(address.stack)), values);
      } catch (cause) {
        throw new Error(`${describeResource(address)}, ${name}: ${messageOf(cause)}`, { cause });
      }
    },
  };
}

const SECRET =
  /\{\{resolve:secretsmanager:(arn:[^:}]*:secretsmanager:[^:}]*:[^:}]*:secret:[^:}]+|[^:}]+):SecretString:([^:}]*)(?::[^}]*)?\}\}/gu;

/** Resolves dynamic references at their use, as CloudFormation does. */
function withSecrets(value: unknown, values: ResourceValues): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(SECRET, (_, id: string, key: string) => {
      const text = values.secret(id);
      const member: unknown = key === '' ? text : Object(JSON.parse(text))[key];
      if (typeof member !== 'string') throw new Error(`The secret ${id} has no text ${key}`);
      return member;
    });
  }
  if (Array.isArray(value)) return value.map((item) => withSecrets(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withSecrets(item, values)]));
}

interface Scope {
  readonly stackName: string;
  /** The value of `Ref` for a parameter or resource. */
  ref(name: string): unknown;
  attribute(logicalId: string, attribute: string): unknown;
  /** The value that any stack exports under this name. */
  imported(name: string): unknown;
}

/** `AWS::NoValue`: the property is left out. */
const NO_VALUE = Symbol('AWS::NoValue');

type Intrinsic = (argument: unknown, scope: Scope) => unknown;

const INTRINSICS: Readonly<Record<string, Intrinsic>> = {
  Ref: (name, scope) => pseudo(textOf(name, 'Ref'), scope),
  'Fn::GetAtt': (argument, scope) => {
    const [logicalId, attribute] =
      typeof argument === 'string' ? splitOnce(argument, '.') : listOf(argument, 'Fn::GetAtt', 2);
    return scope.attribute(textOf(logicalId, 'Fn::GetAtt'), textOf(resolve(attribute, scope), 'Fn::GetAtt'));
  },
  'Fn::Join': (argument, scope) => {
    const [separator, parts] = listOf(argument, 'Fn::Join', 2);
    return listOf(resolve(parts, scope), 'Fn::Join')
      .map((part) => textOf(part, 'Fn::Join'))
      .join(textOf(separator, 'Fn::Join'));
  },
  'Fn::Sub': (argument, scope) => {
    const [template, values] = typeof argument === 'string' ? [argument, {}] : listOf(argument, 'Fn::Sub', 2);
    return substitute(textOf(template, 'Fn::Sub'), recordOf(resolve(values, scope), 'Fn::Sub'), scope);
  },
  'Fn::Select': (argument, scope) => {
    const [index, list] = listOf(argument, 'Fn::Select', 2);
    return listOf(resolve(list, scope), 'Fn::Select')[Number(resolve(index, scope))];
  },
  'Fn::Split': (argument, scope) => {
    const [separator, text] = listOf(argument, 'Fn::Split', 2);
    return textOf(resolve(text, scope), 'Fn::Split').split(textOf(separator, 'Fn::Split'));
  },
  'Fn::ImportValue': (name, scope) => scope.imported(textOf(resolve(name, scope), 'Fn::ImportValue')),
  'Fn::GetAZs': () => ['a', 'b', 'c'].map((letter) => `${PSEUDO.region}${letter}`),
};

/** Resolves intrinsic functions. Throws an `Error` for an unknown one or an invalid argument. */
function resolve(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, scope)).filter((item) => item !== NO_VALUE);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first) {
    const intrinsic = INTRINSICS[first[0]];
    if (intrinsic) return intrinsic(first[1], scope);
    if (first[0].startsWith('Fn::')) throw new Error(`The local stack does not know the function ${first[0]}`);
  }
  return Object.fromEntries(
    entries
      .map(([key, item]): [string, unknown] => [key, resolve(item, scope)])
      .filter(([, item]) => item !== NO_VALUE),
  );
}

const PSEUDO_PARAMETERS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['AWS::AccountId', PSEUDO.account],
  ['AWS::Region', PSEUDO.region],
  ['AWS::Partition', PSEUDO.partition],
  ['AWS::URLSuffix', PSEUDO.urlSuffix],
  ['AWS::NotificationARNs', []],
  ['AWS::NoValue', NO_VALUE],
]);

function pseudo(name: string, scope: Scope): unknown {
  if (name === 'AWS::StackName') return scope.stackName;
  if (name === 'AWS::StackId') return localArn('cloudformation', `stack/${scope.stackName}/local`);
  return PSEUDO_PARAMETERS.has(name) ? PSEUDO_PARAMETERS.get(name) : scope.ref(name);
}

function substitute(template: string, values: Readonly<Record<string, unknown>>, scope: Scope): string {
  return template.replaceAll(/\$\{(!?)([^}]+)\}/gu, (_, literal: string, name: string) => {
    if (literal === '!') return `\${${name}}`;
    if (Object.hasOwn(values, name)) return textOf(values[name], 'Fn::Sub');
    return textOf(name.includes('.') ? scope.attribute(...splitOnce(name, '.')) : pseudo(name, scope), 'Fn::Sub');
  });
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

function textOf(value: unknown, where: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error(`${where}: wanted text, got ${JSON.stringify(value) ?? String(value)}`);
}

function listOf(value: unknown, where: string, length?: number): readonly unknown[] {
  if (Array.isArray(value) && (length === undefined || value.length === length)) return value;
  throw new Error(
    `${where}: wanted a list${length === undefined ? '' : ` of ${length}`}, got ${JSON.stringify(value)}`,
  );
}

function recordOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`${where}: wanted a mapping, got ${JSON.stringify(value)}`);
}
