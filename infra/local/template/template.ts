/** The parts of a CloudFormation template that the local stack reads. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>;
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Condition?: string;
}

interface TemplateOutput {
  readonly Value: unknown;
  readonly Export?: { readonly Name: unknown };
}

export interface LoadedStack {
  readonly name: string;
  readonly template: Template;
  readonly folder: string;
}

export interface ResourceAddress {
  readonly stack: LoadedStack;
  readonly logicalId: string;
  readonly resource: TemplateResource;
}

/** The resources of stacks, in the templates' order. */
export function addressesOf(stacks: readonly LoadedStack[]): readonly ResourceAddress[] {
  return stacks.flatMap((stack) =>
    Object.entries(stack.template.Resources).map(([logicalId, resource]) => ({ stack, logicalId, resource })),
  );
}

export function ofType(resources: readonly ResourceAddress[], type: string): readonly ResourceAddress[] {
  return resources.filter(({ resource }) => resource.Type === type);
}

/** `logical id (type) of stack`, for messages. */
export function describeResource({ stack, logicalId, resource }: ResourceAddress): string {
  return `${logicalId} (${resource.Type}) of ${stack.name}`;
}
