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
      'What Lambda itself needs: a function writes its own log, and in a VPC makes its network interfaces',
    );
  }
}

export function acknowledgeTracing(construct: IConstruct): void {
  acknowledge(
    construct,
    'IAM5[Resource::*]',
    'The two actions by which traces are handed to AWS X-Ray take no resource',
  );
}

/** The CDK grants calls for all versions of a function. */
export function acknowledgeVersions(construct: IConstruct, called: Pick<IFunction, 'functionArn'>): void {
  acknowledge(
    construct,
    `IAM5[Resource::${shown(construct, called.functionArn)}:*]`,
    'The wildcard stands for the versions of one function',
  );
}

/** Each key in a route's path becomes a wildcard. The API may be of another stack. */
export function acknowledgeRoutes(construct: IConstruct, api: HttpApi, arns: readonly string[]): void {
  const { Ref: ref = '' } = Stack.of(api).resolve(api.apiId) as { readonly Ref?: string };
  for (const arn of arns.filter((one) => one.includes('*'))) {
    acknowledge(
      construct,
      `IAM5[Resource::${shown(construct, arn).replace(`<${ref}>`, () => importedAs(construct, api, api.apiId) ?? `<${ref}>`)}]`,
      'The wildcards stand for keys in the path of one route, and in place of a datastore for all of them',
    );
  }
}

/** Queues made through the API share a prefix. */
export function acknowledgePrefix(construct: IConstruct, arn: string): void {
  acknowledge(
    construct,
    `IAM5[Resource::${shown(construct, arn)}]`,
    'The wildcard stands for the rest of the names of queues that are made through the API',
  );
}

export function acknowledgeNames(construct: IConstruct, arn: string): void {
  acknowledge(
    construct,
    `IAM5[Resource::${shown(construct, arn)}]`,
    "The wildcard stands for the numbers of the store's groups, and for the rest of the names of its secrets",
  );
}

export function acknowledgeListing(construct: IConstruct, arn: string): void {
  acknowledge(
    construct,
    `IAM5[Resource::${shown(construct, arn)}]`,
    'Which names are taken in an account is told by a list of all that have one',
  );
}

export function acknowledgeObjects(construct: IConstruct, bucket: IBucket, arns: readonly string[]): void {
  const of = shown(construct, bucket.bucketArn);
  for (const arn of arns) {
    const named = shown(construct, arn).replace(of, () => importedAs(construct, bucket, bucket.bucketArn) ?? of);
    acknowledge(
      construct,
      `IAM5[Resource::${named}]`,
      'The wildcards stand for the parts of one export, and for the files in them',
    );
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
