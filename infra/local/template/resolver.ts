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
  /** Without those whose condition does not hold. */
  readonly resources: readonly ResourceAddress[];
}

export function createResolver(stacks: readonly LoadedStack[], values: ResourceValues): Resolver {
  const exported = new Map<string, () => unknown>();
  const scopes = new Map(stacks.map((stack) => [stack.name, scopeOf(stack)]));
  for (const stack of stacks) {
    for (const output of Object.values(stack.template.Outputs ?? {})) {
      if (!output.Export) continue;
      exported.set(String(resolve(output.Export.Name, scopeFor(stack.name))), () =>
        resolve(output.Value, scopeFor(stack.name)),
      );
    }
  }

  function scopeFor(stackName: string): Scope {
    const scope = scopes.get(stackName);
    if (!scope) throw new Error(`The app has no stack ${stackName}`);
    return scope;
  }

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
      outputOf: (stackName, output) => {
        const found = stacks.find(({ name }) => name === stackName)?.template.Outputs?.[output];
        if (!found) throw new Error(`The app has no output ${output} of a stack ${stackName}`);
        return resolve(found.Value, scopeFor(stackName));
      },
      mapping: (map, key, name) => template.Mappings?.[map]?.[key]?.[name],
      condition: (name) => resolve(template.Conditions?.[name], scopeFor(stack.name)) === true,
    };
  }

  const resources = addressesOf(stacks).filter(
    ({ stack, resource: { Condition } }) => Condition === undefined || scopeFor(stack.name).condition(Condition),
  );

  return {
    resources,
    property(address, name) {
      try {
        return withSecrets(resolve(address.resource.Properties?.[name], scopeFor(address.stack.name)), values);
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
