import { localArn, type ResourceAddress } from '../template/template.ts';
import { physicalName, type Context, type ResourceKind } from './resource-kind.ts';

/** A secret holds the login of the group that it is attached to. */
export const SECRET: ResourceKind = {
  ref: (address) => localArn('secretsmanager', `secret:${physicalName(address)}`),
  attribute: (address, name) => (name === 'Id' ? localArn('secretsmanager', `secret:${physicalName(address)}`) : undefined),
};

/** What attaches a secret to its cluster stands for the secret itself. */
export const SECRET_ATTACHMENT: ResourceKind = {
  ref: (address, context) => String(context.property(address, 'SecretId')),
  attribute: () => undefined,
};

/** The text of each secret, by ARN, in the shape that a rotated secret of a cluster has. */
export function secretTexts(resources: readonly ResourceAddress[], context: Context): ReadonlyMap<string, string> {
  const attachments = resources.filter(({ resource }) => resource.Type === 'AWS::SecretsManager::SecretTargetAttachment');
  return new Map(
    attachments.map((attachment): [string, string] => {
      const target = String(context.property(attachment, 'TargetId'));
      const group = context.world.groups.find(({ name }) => name === target);
      if (!group) throw new Error(`${attachment.logicalId}: wanted a cluster to attach the secret to, got ${target}`);
      const text = {
        engine: 'mysql',
        dbClusterIdentifier: group.name,
        host: group.writerEndpoint.host,
        port: group.writerEndpoint.port,
        username: group.user,
        password: group.password,
      };
      return [String(context.property(attachment, 'SecretId')), JSON.stringify(text)];
    }),
  );
}
