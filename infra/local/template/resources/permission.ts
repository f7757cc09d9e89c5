import { accessKeyOf } from '../../iam/access-key.ts';
import { API_GATEWAY, SOURCE_ARN, type WrittenStatement } from '../../iam/statement.ts';
import type { RightsByKey } from '../../iam/rights.ts';
import { describeResource, ofType, type ResourceAddress } from '../template.ts';
import { functionArn, textProperty, type Context } from './resource-kind.ts';

const KNOWN = new Set(['Action', 'FunctionName', 'Principal', 'SourceArn']);

/** Returns the rights of API Gateway: each function's permission says for which routes. */
export function rightsOfApiGateway(resources: readonly ResourceAddress[], context: Context): RightsByKey {
  const statements = ofType(resources, 'AWS::Lambda::Permission')
    .filter((permission) => context.property(permission, 'Principal') === API_GATEWAY)
    .map((permission) => statementOf(permission, context));
  return { [accessKeyOf(API_GATEWAY)]: { name: API_GATEWAY, statements } };
}

/** Throws an Error for a permission with other members. */
function statementOf(permission: ResourceAddress, context: Context): WrittenStatement {
  const strange = Object.keys(permission.resource.Properties ?? {}).filter((name) => !KNOWN.has(name));
  if (strange.length > 0)
    throw new Error(
      `${describeResource(permission)}: wanted ${[...KNOWN].join(', ')} alone, got ${strange.join(', ')}`,
    );
  const source = context.property(permission, 'SourceArn');
  return {
    Effect: 'Allow',
    Action: context.property(permission, 'Action'),
    Resource: functionArn(textProperty(context, permission, 'FunctionName')),
    ...(source !== undefined && { Condition: { ArnLike: { [SOURCE_ARN]: source } } }),
  };
}
