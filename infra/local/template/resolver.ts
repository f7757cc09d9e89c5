import { resolve, type Scope } from './intrinsics.ts';
import { addressesOf, describeResource, type LoadedStack, type ResourceAddress } from './template.ts';
import { messageOf } from '../message-of.ts';

export interface ResourceValues {
  ref(address: ResourceAddress): string;
  /** Throws for an unknown attribute. */
  attribute(address: ResourceAddress, name: string): unknown;
  secret(id: string): string;
}

export interface Resolver {
  /** Undefined if it is not set. */
  property(address: ResourceAddress, name: string): unknown;
  readonly resources: readonly ResourceAddress[];
}

export function createResolver(stacks: readonly LoadedStack[], values: ResourceValues): Resolver {
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
    property(address, name) {
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
