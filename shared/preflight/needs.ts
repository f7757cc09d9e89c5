export interface NeededResource {
  readonly type: string;
  /** Undefined within a deployment: it is the only one. */
  readonly stack?: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface NeededStack {
  readonly name: string;
  readonly account?: string;
  readonly region?: string;
  /** The bootstrap's SSM parameter and least version. */
  readonly bootstrap?: { readonly parameter: string; readonly version: number };
}

/** An environment's needs, from its templates. */
export interface Needs {
  readonly stacks: readonly NeededStack[];
  readonly resources: readonly NeededResource[];
}

export function resourcesOf({ resources }: Needs, type: string): readonly NeededResource[] {
  return resources.filter((resource) => resource.type === type);
}

/** Returns a property's distinct texts, without tokens. */
export function textsOf(needs: Needs, type: string, property: string): readonly string[] {
  const values = resourcesOf(needs, type).map(({ properties }) => properties[property]);
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}
