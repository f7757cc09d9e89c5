import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Access } from '../../shared/environment.ts';
import type { Sign } from '../../shared/client/sign-request.ts';
import { anyReader, health } from './health.ts';
import type { DemoOptions } from './options.ts';

interface Stack {
  readonly url: string;
  /** Signs requests, where it takes no others. */
  readonly sign: Sign | undefined;
  /** Whether any group has a reader that answers. */
  readonly readers: boolean;
  /** Stops and removes a stack that the demo started; leaves any other alone. */
  stop(): Promise<void>;
}

/**
 * The stack at the URL given; else the one that runs on the data folder; else a new one in a temporary folder.
 *
 * @throws Error when nothing answers at a URL that was given
 */
export async function reachStack(
  { url, data, access }: Pick<DemoOptions, 'url' | 'data' | 'access'>,
  print: (line: string) => void,
): Promise<Stack> {
  if (url !== undefined) {
    const answer = await health(url);
    if (answer === undefined) throw new Error(`--url: wanted a running store, got no answer from ${url}/v1/health`);
    return { url, sign: answer.sign, readers: anyReader(answer.groups), stop: async () => {} };
  }
  const running = await urlOf(data);
  const answer = running === undefined ? undefined : await health(running);
  if (running !== undefined && answer !== undefined) {
    print(`Using the stack that runs on ${data}: ${running}\n`);
    return { url: running, sign: answer.sign, readers: anyReader(answer.groups), stop: async () => {} };
  }
  print(`No stack runs on ${data}: starting one for this run, in a temporary folder.\n`);
  return startOwn(access);
}

/** Loaded only here: a run against a store elsewhere needs neither the CDK app nor an emulator. */
async function startOwn(access: Access): Promise<Stack> {
  const { startLocalStack } = await import('../../infra/local/stack/local-stack.ts');
  const folder = await mkdtemp(join(tmpdir(), 'schemaless-demo-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const stack = await startLocalStack({ port: 0, data: join(folder, 'data'), access });
    const stop = async (): Promise<void> => {
      try {
        await stack.stop();
      } finally {
        await remove();
      }
    };
    return {
      url: stack.url,
      sign: undefined,
      readers: access === 'mysql' && stack.endpoints.groups.some((group) => group.readers.length > 0),
      stop,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function urlOf(data: string): Promise<string | undefined> {
  try {
    const { http } = JSON.parse(await readFile(join(data, 'endpoints.json'), 'utf8')) as { readonly http?: unknown };
    return typeof http === 'string' ? http.replace(/\/+$/, '') : undefined;
  } catch {
    return undefined;
  }
}
