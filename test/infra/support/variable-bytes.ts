import { createResolver, type ResourceValues } from '../../../infra/local/template/resolver.ts';
import type { LoadedStack } from '../../../infra/local/template/template.ts';

/** As long as names, ARNs and hosts become, about: none of them is known before they are deployed. */
const LONG = 'x'.repeat(100);
const LONG_VALUES: ResourceValues = { ref: () => LONG, attribute: () => LONG, secret: () => LONG };

/** Bytes of the largest environment of a function: its variables as JSON, which is more than Lambda counts. */
export function mostVariableBytes(stacks: readonly LoadedStack[]): number {
  const resolver = createResolver(stacks, LONG_VALUES);
  const sizes = resolver.resources
    .filter(({ resource }) => resource.Type === 'AWS::Lambda::Function')
    .map((address) =>
      Buffer.byteLength(JSON.stringify(Object(resolver.property(address, 'Environment')).Variables ?? {})),
    );
  if (sizes.length === 0) throw new Error('wanted functions, got none');
  return Math.max(...sizes);
}
