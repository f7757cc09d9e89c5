import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { startLocalStack } from '../../infra/local/stack/local-stack.ts';
import type { LocalStackOptions } from '../../infra/local/stack/local-stack-options.ts';
import type { LocalStack } from '../../infra/local/running/running-stack.ts';

/** Synthesis, servers and functions, on a machine that has other things to do. */
const START_MS = 240_000;

/**
 * Starts a local stack for the tests of a file, on the run's engine and access, after earlier hooks. Stops it after the
 * tests.
 *
 * @param folder for its data, deleted with it
 * @param options to override the small defaults: one group without readers, four shards
 * @param isJudged whether refused calls of functions fail the tests; false if a test deletes the log, and checks it
 *   before
 */
export function localStack(
  folder: { readonly path: string } & Disposable,
  options: Partial<LocalStackOptions> = {},
  isJudged = true,
): () => LocalStack {
  let stack: LocalStack | undefined;
  beforeAll(async () => {
    const { engine, access } = inject('servers');
    const small = { groups: 1, readers: 0, shards: 4 };
    const data = join(folder.path, 'data');
    stack = await startLocalStack({ port: 0, data, engine: engine.kind, access, ...small, ...options });
  }, START_MS);
  afterAll(async () => {
    const refused = stack && isJudged ? refusalsIn(stack.functionLog) : [];
    await stack?.stop();
    folder[Symbol.dispose]();
    expect(refused).toEqual([]);
  }, START_MS);
  return () => {
    if (stack === undefined) throw new Error('the stack is not there before the tests begin');
    return stack;
  };
}

/** Returns the calls of functions that their policies refused: each is a right that the template lacks. */
export function refusalsIn(functionLog: string): readonly string[] {
  return readFileSync(functionLog, 'utf8')
    .split('\n')
    .filter((line) => /^\S+ iam User: /u.test(line));
}
