import { Annotations, CfnOutput, Names, Tags } from 'aws-cdk-lib';
import type { IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { operationsFor, ROUTES, type OperationName } from '../../shared/api/operations.ts';
import { VERSION } from '../../shared/version.ts';
import type { GivenTopics } from './alarms.ts';
import { readyMade, type FunctionCode } from './function-code.ts';
import { definitionsOf, type GivenDatastore } from './given-definitions.ts';
import { groupsInFirstStack, mayHaveFurtherStacks } from './group-stacks.ts';
import type { BroughtNetwork } from './network.ts';
import { SchemalessService } from './service.ts';
import { SchemalessStorage } from './storage.ts';
import { SchemalessDatastore } from './store-datastore.ts';
import { definitionsIn, VERSION_TAG } from './store-environment.ts';
import { storeEnvironment, type StoreOptions } from './store-options.ts';

export interface SchemalessStoreProps extends StoreOptions {
  /** A folder of YAML, or the datastores. */
  readonly datastores: string | readonly GivenDatastore[];
  /**
   * Tells stores of an account apart: 1 to 30 of a-z, 0-9 and single hyphens; part of metrics and names. Fixed.
   * @default from the stack's name and path
   */
  readonly name?: string;
  /** An existing VPC. @default a new one of isolated subnets */
  readonly vpc?: IVpc;
  /** Subnets of clusters and functions, in two zones at least. @default the isolated ones */
  readonly subnets?: SubnetSelection;
  /**
   * Makes the endpoints that functions need in `vpc`. `false`: existing ones that let `storage.network.clients` in, or
   * a NAT. @default true
   */
  readonly vpcEndpoints?: boolean;
  /** For clusters, tables, queues and secrets. @default the services' own keys */
  readonly encryptionKey?: IKey;
  /** A list gets all alarms; `{ urgent, others }` splits them by urgency, and `others` also gets events. */
  readonly alarmTopics?: GivenTopics;
  /** A stack for clusters and tables, deployed and protected on its own. @default the store's */
  readonly storageScope?: Construct;
  /** The functions' code. @default the package's */
  readonly code?: FunctionCode;
}

/**
 * A store in your own CDK app: its clusters and tables, its functions, queues and schedules, its HTTP API, alarms
 * and dashboard.
 *
 *     const store = new SchemalessStore(this, 'Store', { datastores: 'datastores' });
 *     store.datastore('trips').grantWrite(shop);
 *     shop.addEnvironment('STORE_URL', store.url);
 *
 * It is in one stack by default: its parts are deployed together, and its retained resources outlive the stack. With
 * `storageScope` it is in two: a separate stack can refuse to be deleted. Eight groups with their service come near the
 * 500 resources that a stack may have.
 */
export class SchemalessStore extends Construct {
  /** The HTTP API; requests are signed (SigV4, `execute-api`). */
  readonly url: string;
  readonly urlOutput: CfnOutput;
  /** The target of `domain`'s DNS. */
  readonly domainTarget: string | undefined;
  readonly storage: SchemalessStorage;
  readonly service: SchemalessService;
  private readonly datastores: ReadonlyMap<string, SchemalessDatastore>;

  /** Throws an Error that names the property, or lists every problem of the definitions. */
  constructor(scope: Construct, id: string, props: SchemalessStoreProps) {
    super(scope, id);
    if (props.definedByApi && props.encryptionKey)
      throw new Error(
        'definedByApi: wanted nothing with encryptionKey, which queues made so would not have, got a limit',
      );
    const environment = storeEnvironment(props.name ?? nameOf(this), props);
    const warn = (warning: string): void => Annotations.of(this).addWarningV2('schemaless:definitions', warning);
    const definitions = definitionsOf(props.datastores, warn);
    const names = definitions.datastores.map(({ name }) => name);
    const strange = Object.keys(environment.shards).find((name) => !names.includes(name));
    if (strange !== undefined)
      throw new Error(`shards: wanted names of datastores (${names.join(', ')}), got ${strange}`);
    const code = props.code ?? readyMade(environment);
    const mostGroups = groupsInFirstStack(environment);
    if (environment.groups > mostGroups && !mayHaveFurtherStacks(props.storageScope ?? this, this))
      throw new Error(
        `groups: wanted at most ${mostGroups} without a storageScope in another stack, which is not nested, got ${environment.groups}`,
      );
    const storageScope = props.storageScope ? new Construct(props.storageScope, id) : new Construct(this, 'storage');
    this.storage = new SchemalessStorage(storageScope, {
      environment,
      network: broughtNetwork(props),
      encryptionKey: props.encryptionKey,
      alarmTopics: props.alarmTopics,
      code,
    });
    this.service = new SchemalessService(this, {
      storage: this.storage,
      definitions: definitionsIn(environment, definitions),
      code,
    });
    this.url = this.service.api.api.apiEndpoint;
    this.urlOutput = new CfnOutput(this, 'url', { value: this.url, description: 'The HTTP API; sign requests' });
    this.domainTarget = this.service.api.domain?.regionalDomainName;
    this.datastores = new Map(names.map((name) => [name, new SchemalessDatastore(name, this.service)]));
    for (const part of [this, storageScope]) Tags.of(part).add(VERSION_TAG, VERSION);
    if (!code.ofTrigger) this.node.addValidation({ validate: () => this.triggersWithoutFunctions() });
  }

  /** Throws an Error for an unknown name. */
  datastore(name: string): SchemalessDatastore {
    const found = this.datastores.get(name);
    if (!found)
      throw new Error(
        `${this.node.path}: wanted one of its datastores (${[...this.datastores.keys()].join(', ')}), got ${name}`,
      );
    return found;
  }

  /** Allows reading all datastores, triggers, buffers and health, but no moves or erasures. */
  grantRead(grantee: IGrantable): Grant {
    return this.grant(grantee, operationsFor('readers'));
  }

  /** Allows reading and writing all datastores. */
  grantWrite(grantee: IGrantable): Grant {
    return this.grant(grantee, operationsFor('clients'));
  }

  /** Allows moving shards between groups. */
  grantMove(grantee: IGrantable): Grant {
    return this.grant(grantee, operationsFor('movers'));
  }

  /** Allows erasing cells for good. */
  grantErase(grantee: IGrantable): Grant {
    return this.grant(grantee, operationsFor('erasers'));
  }

  /** Allows everything the API does. */
  grantOperate(grantee: IGrantable): Grant {
    return this.grant(
      grantee,
      ROUTES.map(({ operation }) => operation),
    );
  }

  private grant(grantee: IGrantable, operations: readonly OperationName[]): Grant {
    return this.service.api.grantCalls(grantee, '*', operations);
  }

  private triggersWithoutFunctions(): string[] {
    return [...this.datastores.keys()].flatMap((datastore) =>
      this.service
        .triggersOf(datastore)
        .filter((trigger) => trigger.definition.function !== undefined && !trigger.consumer)
        .map(
          ({ definition: { name, function: file } }) =>
            `trigger ${name} of ${datastore} names the function ${file}: wanted store.datastore('${datastore}').onTrigger('${name}', fn) to give it, got none`,
        ),
    );
  }
}

/** Short, since other names contain it. */
function nameOf(store: Construct): string {
  return Names.uniqueResourceName(store, { maxLength: 30, separator: '-' })
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-');
}

function broughtNetwork(props: SchemalessStoreProps): BroughtNetwork | undefined {
  const { vpc, subnets, vpcEndpoints: endpoints, access, zones, cidr } = props;
  if (vpc) {
    for (const [name, value] of Object.entries({ zones, cidr })) {
      if (value !== undefined) throw new Error(`${name}: wanted nothing with vpc, which has its own, got a choice`);
    }
    if (endpoints !== undefined && access !== 'mysql')
      throw new Error(
        'vpcEndpoints: wanted nothing without access mysql, since no function is in the VPC, got a choice',
      );
    return { vpc, subnets, endpoints };
  }
  for (const [name, value] of Object.entries({ subnets, vpcEndpoints: endpoints })) {
    if (value !== undefined)
      throw new Error(`${name}: wanted nothing without vpc, since then one is made, got a choice`);
  }
  return undefined;
}
