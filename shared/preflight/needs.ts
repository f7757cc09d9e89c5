export interface NeededResource {
  readonly type: string;
  readonly stack: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface NeededStack {
  readonly name: string;
  /** That it is bound to. @default any */
  readonly account?: string;
  /** That it is bound to. @default any */
  readonly region?: string;
  /** What the CDK's bootstrap says its version in, and the least that will do. */
  readonly bootstrap?: { readonly parameter: string; readonly version: number };
}

/** What an environment needs of AWS: the templates that a deployment brings, so that there is no second list. */
export interface Needs {
  readonly environment: string;
  readonly stacks: readonly NeededStack[];
  readonly resources: readonly NeededResource[];
}

export function resourcesOf({ resources }: Needs, type: string): readonly NeededResource[] {
  return resources.filter((resource) => resource.type === type);
}

/** The different texts that a property of a type's resources has; what is only known at the deployment is left out. */
export function textsOf(needs: Needs, type: string, property: string): readonly string[] {
  const values = resourcesOf(needs, type).map(({ properties }) => properties[property]);
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}
