/** A CloudFormation template as CDK synthesizes it: what the local stack reads of it. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>;
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  /** What becomes of it when it goes from the template, or is replaced. */
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  /** Name of a condition without which the resource is not made. */
  readonly Condition?: string;
}

interface TemplateOutput {
  readonly Value: unknown;
  readonly Export?: { readonly Name: unknown };
}

/** A stack of a synthesized app. */
export interface LoadedStack {
  readonly name: string;
  readonly template: Template;
  /** The folder that asset paths are relative to. */
  readonly folder: string;
}

export interface ResourceAddress {
  readonly stack: LoadedStack;
  readonly logicalId: string;
  readonly resource: TemplateResource;
}

/** `logical id (type) of stack`, for messages. */
export function describeResource({ stack, logicalId, resource }: ResourceAddress): string {
  return `${logicalId} (${resource.Type}) of ${stack.name}`;
}
