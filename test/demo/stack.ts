import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder } from '../../infra/local/folder/data-folder.ts';
import { localSigner } from '../../infra/local/login/clients.ts';
import type { GroupHealth } from '../../shared/api/service.ts';
import type { Sign } from '../../shared/client/sign-request.ts';
import type { Access } from '../../shared/environment.ts';
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

/** Ample for a stack on one machine, and short for a user. */
const TIMEOUT_MS = 15_000;

/**
 * Returns the stack at the URL given; else the one that runs on the data folder; else a new one in a temporary folder.
 *
 * @throws Error if nothing answers at a given URL
 */
export async function reachStack(
  { url, data, access }: Pick<DemoOptions, 'url' | 'data' | 'access'>,
  print: (line: string) => void,
): Promise<Stack> {
  const place = url ?? urlOf(data);
  const running = place === undefined ? undefined : await runningAt(place);
  if (running !== undefined) {
    if (url === undefined) print(`Using the stack that runs on ${data}: ${running.url}\n`);
    return running;
  }
  if (url !== undefined) throw new Error(`--url: wanted a running store, got no answer from ${url}/v1/health`);
  print(`No stack runs on ${data}: starting one for this run, in a temporary folder.\n`);
  return startOwn(access);
}

function urlOf(data: string): string | undefined {
  const { endpoints } = dataFolder(data);
  return existsSync(endpoints) ? (JSON.parse(readFileSync(endpoints, 'utf8')) as { http: string }).http : undefined;
}

/** Undefined when nothing there answers as a stack does, neither to an unsigned request nor to a signed one. */
async function runningAt(url: string): Promise<Stack | undefined> {
  const health = new URL(`${url}/v1/health`);
  for (const sign of [undefined, localSigner()]) {
    try {
      const headers = (await sign?.({ method: 'GET', url: health, headers: {}, body: undefined })) ?? {};
      const response = await fetch(health, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
      const { groups } = (await response.json()) as { readonly groups?: readonly GroupHealth[] };
      const readers = groups?.some(({ reader }) => reader.state === 'up' && reader.served_by === 'reader');
      if (readers !== undefined) return { url, sign, readers, stop: async () => {} };
    } catch {
      // Nothing listens there, or something else does.
    }
  }
  return undefined;
}

/** Loaded only here: a run against a store elsewhere needs neither the CDK app nor an emulator. */
async function startOwn(access: Access): Promise<Stack> {
  const { startLocalStack } = await import('../../infra/local/stack/local-stack.ts');
  const folder = await mkdtemp(join(tmpdir(), 'schemaless-demo-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const stack = await startLocalStack({ port: 0, data: join(folder, 'data'), access });
    return {
      url: stack.url,
      sign: undefined,
      readers: access === 'mysql' && stack.endpoints.groups.some((group) => group.readers.length > 0),
      stop: () => stack.stop().finally(remove),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
