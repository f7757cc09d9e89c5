import { accessKeyOf, accessKeyOfRequest } from '../../iam/access-key.ts';
import type { Rights } from '../../iam/rights.ts';
import type { Call } from '../../iam/statement.ts';
import { localArn } from '../../arn.ts';
import type { ShardGroup, ShardGroups } from '../../mysql/shard-groups.ts';
import { addressesOf, describeResource, ofType, type ResourceAddress } from '../template.ts';
import { groupOf } from './cluster.ts';
import { textProperty, type Context, type ResourceKind } from './resource-kind.ts';

/** The forwarders of a proxy's group check its logins. */
export const PROXY: ResourceKind = {
  ref: (address, context) => textProperty(context, address, 'DBProxyName'),
  attribute: (address, name, context) =>
    name === 'Endpoint'
      ? groupOfProxy(address, context).writerEndpoint.host
      : name === 'DBProxyArn'
        ? localArn('rds', `db-proxy:${idOf(PROXY.ref(address, context))}`)
        : undefined,
};

export const PROXY_ENDPOINT: ResourceKind = {
  ref: (address, context) => textProperty(context, address, 'DBProxyEndpointName'),
  attribute(address, name, context) {
    const proxy = textProperty(context, address, 'DBProxyName');
    const [of] = proxiesIn(addressesOf([address.stack]), context).filter((one) => one.name === proxy);
    return name === 'Endpoint' ? of?.group.readerEndpoint.host : undefined;
  },
};

/** A proxy acts with the rights of its role. */
interface ProxyDefinition {
  readonly name: string;
  readonly roleArn: string;
  readonly group: ShardGroup;
  /** The password of the group's owner. */
  readonly secretArn: string;
}

export function proxiesIn(resources: readonly ResourceAddress[], context: Context): readonly ProxyDefinition[] {
  return ofType(resources, 'AWS::RDS::DBProxy').map((address) => ({
    name: PROXY.ref(address, context),
    roleArn: textProperty(context, address, 'RoleArn'),
    group: groupOfProxy(address, context),
    secretArn: String(Object(context.property(address, 'Auth'))[0]?.SecretArn),
  }));
}

/**
 * Makes the groups' forwarders judge logins as RDS Proxy does. The function needs the right to the proxy's user; the
 * proxy's role needs the owner's secret, or the right to another user of the cluster with its present resource id.
 */
export function checkLogins(
  { logins }: Pick<ShardGroups, 'logins'>,
  proxies: readonly ProxyDefinition[],
  rightsNow: () => Rights,
  onRefused: (why: string) => void,
): void {
  logins.clear();
  for (const { name, group, secretArn } of proxies)
    logins.set(group.name, (user, token) => {
      const rights = rightsNow();
      const key = accessKeyOfRequest(undefined, token);
      const onward =
        user === group.user
          ? { action: 'secretsmanager:GetSecretValue', resource: secretArn }
          : connecting(group.resourceId, user);
      const why = rights.knows(key)
        ? (rights.whyRefused(key, connecting(idOf(name), user)) ?? rights.whyRefused(accessKeyOf(name), onward))
        : `${user} at ${name}: wanted a token of a function, got another`;
      if (why !== undefined) onRefused(why);
      return why && `Access denied for user '${user}'`;
    });
}

function connecting(id: string, user: string): Call {
  return { action: 'rds-db:connect', resource: localArn('rds-db', `dbuser:${id}/${user}`) };
}

function idOf(proxy: string): string {
  return `prx-${proxy}`;
}

function groupOfProxy(address: ResourceAddress, { world }: Context): ShardGroup {
  const beside = addressesOf([address.stack]);
  const targets = ofType(beside, 'AWS::RDS::DBProxyTargetGroup').find(
    ({ resource }) => Object(resource.Properties?.['DBProxyName']).Ref === address.logicalId,
  );
  const [cluster] = Object(targets?.resource.Properties)['DBClusterIdentifiers'] ?? [];
  const of = beside.find(({ logicalId }) => logicalId === Object(cluster).Ref);
  if (!of) throw new Error(`${describeResource(address)}: wanted a cluster of its stack as its target, got none`);
  return groupOf(of, world.groups);
}
