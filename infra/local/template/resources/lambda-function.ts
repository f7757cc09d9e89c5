import { join } from 'node:path';
import type { FunctionDefinition } from '../../lambda/function-definition.ts';
import { describeResource, ofType, type ResourceAddress } from '../template.ts';
import { localArn } from '../../arn.ts';
import { functionArn, physicalName, textProperty, type Context, type ResourceKind } from './resource-kind.ts';

export const FUNCTION: ResourceKind = {
  ref: functionName,
  attribute: (address, name, context) =>
    name === 'Arn' ? localArn('lambda', `function:${functionName(address, context)}`) : undefined,
};

/** Skips other functions, which CDK adds for itself. */
export function lambdaFunctions(
  resources: readonly ResourceAddress[],
  context: Context,
  arns: ReadonlySet<string>,
): readonly FunctionDefinition[] {
  return ofType(resources, 'AWS::Lambda::Function')
    .filter((address) => arns.has(String(FUNCTION.attribute(address, 'Arn', context))))
    .map((address) => definitionOf(address, context));
}

function definitionOf(address: ResourceAddress, context: Context): FunctionDefinition {
  const handler = String(context.property(address, 'Handler'));
  const asset: unknown = address.resource.Metadata?.['aws:asset:path'];
  if (typeof asset !== 'string')
    throw new Error(`${describeResource(address)}: wanted code that is an asset, got none`);
  const environment = Object(context.property(address, 'Environment')).Variables ?? {};
  return {
    name: functionName(address, context),
    title: titleOf(address),
    arn: String(FUNCTION.attribute(address, 'Arn', context)),
    module: join(address.stack.folder, asset, `${handler.slice(0, handler.lastIndexOf('.'))}.mjs`),
    exportName: handler.slice(handler.lastIndexOf('.') + 1),
    environment,
    roleArn: textProperty(context, address, 'Role'),
    timeoutMs: Number(context.property(address, 'Timeout') ?? 3) * 1000,
    memoryMb: Number(context.property(address, 'MemorySize') ?? 128),
  };
}

function titleOf({ resource, stack, logicalId }: ResourceAddress): string {
  const path: unknown = resource.Metadata?.['aws:cdk:path'];
  return typeof path === 'string' ? path.replace(`${stack.name}/`, '').replace(/\/Resource$/u, '') : logicalId;
}

function functionName(address: ResourceAddress, context: Context): string {
  const name = context.property(address, 'FunctionName');
  return typeof name === 'string' ? name : physicalName(address);
}

/** There is one version of a function, the newest. */
export const FUNCTION_ALIAS: ResourceKind = {
  ref: (address, context) => functionArn(textProperty(context, address, 'FunctionName')),
  attribute: (address, name, context) =>
    name === 'AliasArn' || name === 'FunctionArn'
      ? FUNCTION_ALIAS.ref(address, context)
      : name === 'Version'
        ? '$LATEST'
        : undefined,
};
