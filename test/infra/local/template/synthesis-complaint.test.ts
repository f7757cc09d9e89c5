import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../../infra/app-context.ts';
import { whatIsWrong } from '../../../../infra/local/template/synthesize.ts';

it('of the places that called each other the innermost of ours is left', () => {
  const ours = join(PROJECT_ROOT, 'infra/stacks/store-api.ts');
  const complaint = `node:internal/modules/run_main:107
    triggerUncaughtException(

Error: the API: wanted a function, got none
    at resolve (${join(PROJECT_ROOT, 'node_modules/aws-cdk-lib/core/lib/stack.js')}:1:2)
    at integrationOf (${ours}:60:40)
    at new StoreApi (${ours}:70:20)

Node.js v24.21.0
`;
  expect(whatIsWrong(complaint)).toBe(`node:internal/modules/run_main:107
    triggerUncaughtException(
Error: the API: wanted a function, got none
    at integrationOf (${ours}:60:40)`);
});
