import { describeResource, type ResourceAddress } from '../template.ts';
import { FUNCTION } from './lambda-function.ts';
import { textProperty, type Context } from './resource-kind.ts';

export function isCustomResource(type: string): boolean {
  return type.startsWith('Custom::') || type === 'AWS::CloudFormation::CustomResource';
}

export type CustomResourceDefinition = ReturnType<typeof customResources>[number];

/** Returns custom resources with their own handlers, which CDK's provider framework names. */
export function customResources(resources: readonly ResourceAddress[], context: Context) {
  const frameworks = new Map(
    resources
      .filter(isFramework)
      .map((address) => [
        String(FUNCTION.attribute(address, 'Arn', context)),
        Object(context.property(address, 'Environment')).Variables,
      ]),
  );
  return resources
    .filter(({ resource }) => isCustomResource(resource.Type))
    .map((address) => {
      const framework = frameworks.get(textProperty(context, address, 'ServiceToken'));
      if (!framework)
        throw new Error(`${describeResource(address)}: wanted a provider made by the CDK's provider framework`);
      const names = Object.keys(address.resource.Properties ?? {});
      return {
        address,
        type: address.resource.Type,
        /** As CloudFormation passes them: every scalar is text. */
        properties: Object.fromEntries(names.map((name) => [name, asText(context.property(address, name))])),
        onEventArn: String(framework.USER_ON_EVENT_FUNCTION_ARN),
        /** Undefined if the work is done when `onEvent` returns. */
        isCompleteArn:
          framework.USER_IS_COMPLETE_FUNCTION_ARN === undefined
            ? undefined
            : String(framework.USER_IS_COMPLETE_FUNCTION_ARN),
      };
    });
}

/** True for a function of CDK's provider framework. */
function isFramework({ resource }: ResourceAddress): boolean {
  const variables: unknown = Object(resource.Properties?.['Environment']).Variables;
  return resource.Type === 'AWS::Lambda::Function' && Object(variables).USER_ON_EVENT_FUNCTION_ARN !== undefined;
}

function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asText(item)]));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
