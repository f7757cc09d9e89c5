import { stripVTControlCharacters } from 'node:util';
import { startVitest, type TestCase, type TestModule } from 'vitest/node';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import type { Environment } from '../support/deployed/reach.ts';

export interface Checked {
  /** With the suite that it is in. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly why: string;
  /** Lines that it reports, such as how long something took. */
  readonly notes: readonly string[];
  /** The last requests of one that failed, with their request ids. */
  readonly requests: readonly string[];
}

/** Many requests, one after the other, each over a network. */
const CHECK_MS = 180_000;

/**
 * Runs the suites of this folder against an environment, in processes that sign with this one's credentials.
 *
 * @param print receives a line for each suite when it ends
 */
export async function runChecks(environment: Environment, print: (line: string) => void): Promise<readonly Checked[]> {
  const checks: Checked[] = [];
  const onTestModuleEnd = (module: TestModule): void => {
    const done = [...module.children.allTests()].map(checkedOf);
    checks.push(
      ...module.errors().map(({ message }) => ({
        name: module.relativeModuleId,
        state: 'failed' as const,
        why: plain(message),
        notes: [],
        requests: [],
      })),
      ...done,
    );
    const count = (state: Checked['state']): number => done.filter((check) => check.state === state).length;
    print(
      `${[...module.children][0]?.name ?? module.relativeModuleId}: ${count('passed')} of ${done.length} passed, ${count('skipped')} skipped, ${(module.diagnostic().duration / 1000).toFixed(1)} s`,
    );
  };
  const vitest = await startVitest([], {
    // That of the tests starts servers.
    config: false,
    root: PROJECT_ROOT,
    dir: 'test/smoke',
    include: ['**/*.smoke.ts'],
    watch: false,
    cache: false,
    testTimeout: CHECK_MS,
    // Side by side: each suite mostly waits for answers.
    maxWorkers: 3,
    provide: { smoke: environment },
    reporters: [{ onTestModuleEnd }],
  });
  const unforeseen = vitest.state.getUnhandledErrors().map((error) => ({
    name: 'smoke',
    state: 'failed' as const,
    why: plain(Object(error).message),
    notes: [],
    requests: [],
  }));
  await vitest.close();
  return [...checks, ...unforeseen];
}

function checkedOf(test: TestCase): Checked {
  const result = test.result();
  const base = {
    name: test.fullName,
    notes: test.annotations().map(({ message }) => message),
    requests: test.meta().requests ?? [],
  };
  if (result.state === 'failed')
    return {
      ...base,
      state: 'failed',
      why: result.errors
        .map(({ message, diff }) => plain(diff === undefined ? message : `${message}\n${diff}`))
        .join('\n'),
    };
  return {
    ...base,
    state: result.state === 'passed' ? 'passed' : 'skipped',
    why: result.state === 'skipped' ? (result.note ?? 'not asked for') : '',
  };
}

function plain(text: unknown): string {
  return stripVTControlCharacters(String(text));
}
