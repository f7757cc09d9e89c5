/** Runs `npm start` with the proxies and token logins of `prod`; `names`: in the control, by what policies name. */
import { fileURLToPath } from 'node:url';
import type { RightsByKey } from '../../../infra/local/iam/rights.ts';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';
import { serveStack, toldOptions } from '../serve-stack.ts';

interface ProxiedOptions extends Partial<LocalStackOptions> {
  /** A control: the proxies' roles name their first cluster by its resource id. */
  readonly namesClusters?: true;
}

const { namesClusters, ...options } = toldOptions<ProxiedOptions>();
const app = fileURLToPath(new URL('proxied-app.ts', import.meta.url));
await serveStack({ ...options, app, log: (line) => console.log(line) }, (stack) => {
  if (namesClusters) void stack.setRights(byResourceId(stack));
});

function byResourceId({ rights, groups }: LocalStack): RightsByKey {
  return Object.fromEntries(
    Object.entries(rights).map(([key, of]) => {
      const group = groups.groups.find(({ name }) => of.name.endsWith(`-${name}`));
      const text = JSON.stringify(of);
      return [key, JSON.parse(group ? text.replaceAll('dbuser:*', `dbuser:${group.resourceId}`) : text)];
    }),
  ) as RightsByKey;
}
