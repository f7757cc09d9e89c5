import { createHmac } from 'node:crypto';
import { localArn } from '../../arn.ts';
import { type ResourceAddress, ofType } from '../template.ts';
import { physicalName, type Context, type ResourceKind } from './resource-kind.ts';

/** A secret holds its group's login, or a generated password. */
export const SECRET: ResourceKind = {
  ref: (address) => localArn('secretsmanager', `secret:${physicalName(address)}`),
  attribute: (address, name) =>
    name === 'Id' ? localArn('secretsmanager', `secret:${physicalName(address)}`) : undefined,
};

export const SECRET_ATTACHMENT: ResourceKind = {
  ref: (address, context) => String(context.property(address, 'SecretId')),
  attribute: () => undefined,
};

/** Returns each secret's text by ARN, in the shape of a cluster's rotated secret. */
export function secretTexts(resources: readonly ResourceAddress[], context: Context): ReadonlyMap<string, string> {
  const attachments = ofType(resources, 'AWS::SecretsManager::SecretTargetAttachment');
  const attached = new Set(attachments.map((attachment) => context.property(attachment, 'SecretId')));
  return new Map([
    ...ofType(resources, 'AWS::SecretsManager::Secret')
      .map((secret) => [SECRET.ref(secret, context), secret] as const)
      .filter(([arn]) => !attached.has(arn))
      .map(([arn, secret]): [string, string] => [arn, generatedText(arn, secret, context)]),
    ...attachments.map((attachment): [string, string] => {
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
  ]);
}

/** Derives the password from the group's own, so that each start gives the same. */
function generatedText(arn: string, secret: ResourceAddress, context: Context): string {
  const { SecretStringTemplate: template, GenerateStringKey: key } = Object(
    context.property(secret, 'GenerateSecretString'),
  ) as { readonly SecretStringTemplate?: string; readonly GenerateStringKey?: string };
  const [group] = context.world.groups;
  if (template === undefined || key === undefined || !group)
    throw new Error(
      `${secret.logicalId}: wanted a template and a key to generate a text by, got ${JSON.stringify({ template, key })}`,
    );
  return JSON.stringify({
    ...(JSON.parse(template) as object),
    [key]: createHmac('sha256', group.password).update(arn).digest('hex'),
  });
}
