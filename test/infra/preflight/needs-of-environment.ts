import type { EnvironmentName } from '../../../infra/environments.ts';
import type { Needs } from '../../../shared/preflight/needs.ts';
import { appOf } from '../support/synthesized.ts';

export function needsOfEnvironment(environment: EnvironmentName): Needs {
  const { stacks } = appOf({ environment });
  return {
    stacks: stacks.map(({ name }) => ({
      name,
      bootstrap: { parameter: '/cdk-bootstrap/hnb659fds/version', version: 6 },
    })),
    resources: stacks.flatMap(({ name: stack, template }) =>
      Object.values(template.Resources).map(({ Type: type, Properties: properties = {} }) => ({
        type,
        stack,
        properties,
      })),
    ),
  };
}
