import { Resource, Stack, Validations } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IConstruct } from 'constructs';

/**
 * Explains to cdk-nag why a rule does not apply to a construct and its children. `rule`: `RDS11`, or one finding of it:
 * `IAM5[Resource::…]`.
 */
export function acknowledge(construct: IConstruct, rule: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
}

export function acknowledgeLambdaPolicies(construct: IConstruct): void {
  for (const policy of ['AWSLambdaBasicExecutionRole', 'AWSLambdaVPCAccessExecutionRole']) {
    acknowledge(
      construct,
      `IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${policy}]`,
      'Lambda needs it: a function writes its own log, and in a VPC creates its network interfaces',
    );
  }
}

/** The CDK grants calls for all versions of a function. */
export function acknowledgeVersions(construct: IConstruct, { functionArn }: Pick<IFunction, 'functionArn'>): void {
  acknowledge(
    construct,
    `IAM5[Resource::${shown(construct, functionArn)}:*]`,
    'The wildcard stands for the versions of one function',
  );
}

export function acknowledgeArn(construct: IConstruct, arn: string, reason: string): void {
  acknowledge(construct, `IAM5[Resource::${shown(construct, arn)}]`, reason);
}

/** Each key in a route's path becomes a wildcard. The API may be of another stack. */
export function acknowledgeRoutes(construct: IConstruct, api: HttpApi, arns: readonly string[]): void {
  const { Ref: ref = '' } = Stack.of(api).resolve(api.apiId) as { readonly Ref?: string };
  acknowledgeOf(
    construct,
    { giver: api, value: api.apiId, as: `<${ref}>` },
    arns.filter((arn) => arn.includes('*')),
    'The wildcards stand for keys in the path of one route, and in place of a datastore or a route for all of them',
  );
}

export function acknowledgeObjects(construct: IConstruct, bucket: IBucket, arns: readonly string[]): void {
  acknowledgeOf(
    construct,
    { giver: bucket, value: bucket.bucketArn, as: shown(construct, bucket.bucketArn) },
    arns,
    'The wildcards stand for the parts of one export, and for the files in them',
  );
}

interface Given {
  readonly giver: IConstruct;
  readonly value: string;
  /** How the value is shown within its stack. */
  readonly as: string;
}

/** ARNs with a value that may be of another stack. */
function acknowledgeOf(
  construct: IConstruct,
  { giver, value, as }: Given,
  arns: readonly string[],
  reason: string,
): void {
  for (const arn of arns) {
    const named = shown(construct, arn).replace(as, () => importedAs(construct, giver, value) ?? as);
    acknowledge(construct, `IAM5[Resource::${named}]`, reason);
  }
}

/** Returns the export's name for a value of another stack. */
function importedAs(construct: IConstruct, giver: IConstruct, value: string): string | undefined {
  const [here, there] = [Stack.of(construct), Stack.of(giver)];
  // Nested stacks use parameters instead.
  if (here === there || here.nested || there.nested || !Resource.isOwnedResource(giver)) return undefined;
  const { 'Fn::ImportValue': name } = there.resolve(there.exportValue(value)) as {
    readonly 'Fn::ImportValue'?: string;
  };
  return name;
}

/** Formats an ARN as cdk-nag does. */
function shown(construct: IConstruct, arn: string): string {
  return printed(Stack.of(construct).resolve(arn));
}

function printed(value: unknown): string {
  if (typeof value === 'string') return value;
  const {
    Ref: ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
  } = Object(value) as {
    readonly Ref?: string;
    readonly 'Fn::GetAtt'?: readonly string[];
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
  };
  if (ref !== undefined) return `<${ref}>`;
  if (attribute) return `<${attribute.join('.')}>`;
  if (join) return join[1].map(printed).join(join[0]);
  throw new Error(`an ARN: wanted text, Ref, Fn::GetAtt or Fn::Join, got ${JSON.stringify(value)}`);
}
