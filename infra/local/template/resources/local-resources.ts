import { createResolver, type Resolver, type ResourceValues } from '../resolver.ts';
import { addressesOf, describeResource, type LoadedStack, type ResourceAddress } from '../template.ts';
import { localArn } from '../../arn.ts';
import { WITHOUT_LOCAL_MEANING } from '../without-meaning.ts';
import { CLUSTER, INSTANCE } from './cluster.ts';
import { isCustomResource } from './custom-resource.ts';
import { EVENT_SOURCE } from './event-source.ts';
import { FUNCTION_ALIAS, FUNCTION } from './lambda-function.ts';
import { HTTP_API } from './http-api.ts';
import { QUEUE } from './queue.ts';
import { PROXY, PROXY_ENDPOINT } from './proxy.ts';
import { POLICY, ROLE } from './role.ts';
import { NAMED, physicalName, type Context, type ResourceKind, type World } from './resource-kind.ts';
import { SECRET, SECRET_ATTACHMENT, secretTexts } from './secret.ts';
import { TABLE } from './table.ts';

/** The types with a local implementation. */
const KINDS: Readonly<Record<string, ResourceKind>> = {
  'AWS::ApiGatewayV2::Api': HTTP_API,
  // Routes name an integration inside a longer text, by its logical id.
  'AWS::ApiGatewayV2::Integration': NAMED,
  'AWS::ApiGatewayV2::Route': NAMED,
  'AWS::DynamoDB::Table': TABLE,
  'AWS::IAM::ManagedPolicy': POLICY,
  'AWS::IAM::Policy': POLICY,
  'AWS::IAM::Role': ROLE,
  'AWS::Lambda::Alias': FUNCTION_ALIAS,
  'AWS::Lambda::EventSourceMapping': EVENT_SOURCE,
  'AWS::Lambda::Function': FUNCTION,
  'AWS::Lambda::Permission': NAMED,
  'AWS::Lambda::Version': FUNCTION_ALIAS,
  'AWS::RDS::DBCluster': CLUSTER,
  'AWS::RDS::DBInstance': INSTANCE,
  'AWS::RDS::DBProxy': PROXY,
  'AWS::RDS::DBProxyEndpoint': PROXY_ENDPOINT,
  'AWS::SQS::Queue': QUEUE,
  'AWS::Scheduler::Schedule': NAMED,
  'AWS::SecretsManager::Secret': SECRET,
  'AWS::SecretsManager::SecretTargetAttachment': SECRET_ATTACHMENT,
};

/** Stands for references in properties that are not used here. */
const MEANINGLESS: ResourceKind = {
  ref: physicalName,
  attribute: (address, name) =>
    name.endsWith('Arn') ? localArn('local', physicalName(address)) : `${physicalName(address)}.${name}`,
};

/** Throws an `Error` that names every resource with neither an implementation nor an entry in `without-meaning.ts`. */
export function checkTypes(stacks: readonly LoadedStack[]): void {
  const strange = addressesOf(stacks).filter((address) => kindOf(address) === undefined);
  if (strange.length === 0) return;
  throw new Error(
    `The local stack cannot run ${strange.map(describeResource).join(', ')}: run the type in infra/local/resources, or list it in infra/local/template/without-meaning.ts`,
  );
}

export type LocalResources = ReturnType<typeof localResources>;

export function localResources(stacks: readonly LoadedStack[], world: World) {
  let texts: ReadonlyMap<string, string> | undefined;
  const values: ResourceValues = {
    ref: (address) => (kindOf(address) ?? MEANINGLESS).ref(address, context),
    attribute: (address, name) => {
      const value = (kindOf(address) ?? MEANINGLESS).attribute(address, name, context);
      if (value === undefined) throw new Error(`${describeResource(address)} has no attribute ${name} here`);
      return value;
    },
    secret: (id) => {
      const text = secrets().get(id);
      if (text === undefined) throw new Error(`No secret ${id}`);
      return text;
    },
  };
  const resolver: Resolver = createResolver(stacks, values);
  const context: Context = { world, property: (address, name) => resolver.property(address, name) };
  const resources = resolver.resources.filter(({ resource }) => WITHOUT_LOCAL_MEANING[resource.Type] === undefined);
  function secrets(): ReadonlyMap<string, string> {
    texts ??= secretTexts(resources, context);
    return texts;
  }
  return { resources, context, secrets: secrets() };
}

function kindOf({ resource }: ResourceAddress): ResourceKind | undefined {
  const kind = KINDS[resource.Type];
  if (kind) return kind;
  if (WITHOUT_LOCAL_MEANING[resource.Type] !== undefined) return MEANINGLESS;
  return isCustomResource(resource.Type) ? NAMED : undefined;
}
