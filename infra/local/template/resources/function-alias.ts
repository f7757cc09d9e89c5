import { localArn } from '../../arn.ts';
import type { ResourceAddress } from '../template.ts';
import { textProperty, type Context, type ResourceKind } from './resource-kind.ts';

/** There is one version of a function, the newest. */
export const FUNCTION_ALIAS: ResourceKind = {
  ref: functionArn,
  attribute: (address, name, context) =>
    name === 'AliasArn' || name === 'FunctionArn'
      ? functionArn(address, context)
      : name === 'Version'
        ? '$LATEST'
        : undefined,
};

function functionArn(address: ResourceAddress, context: Context): string {
  const name = textProperty(context, address, 'FunctionName');
  return name.startsWith('arn:') ? name : localArn('lambda', `function:${name}`);
}
