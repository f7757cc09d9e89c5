import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { isLoopback } from './loopback.ts';
import { DEFAULT_OPTIONS } from '../../local/stack/local-stack-options.ts';
import { dataFolder, isDataFolder } from '../../local/folder/data-folder.ts';

interface FoundStack {
  readonly url: string;
  readonly by: string;
}

export const USUAL_URL = `http://127.0.0.1:${DEFAULT_OPTIONS.port}`;
const CONNECT_MS = 2000;
const HEALTH_MS = 10_000;

/** Finds the stack whose data is in `.local` here or in a folder above; else a Schemaless at the usual address. */
export async function findLocalStack(folder: string, usualUrl: string): Promise<FoundStack | undefined> {
  const near = stackAbove(folder);
  if (near && (await listens(near.url))) return near;
  return (await isSchemaless(usualUrl)) ? { url: usualUrl, by: `it answers at ${usualUrl}` } : undefined;
}

function stackAbove(folder: string): FoundStack | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const data = join(at, DEFAULT_OPTIONS.data);
    const { endpoints } = dataFolder(data);
    if (isDataFolder(data) && existsSync(endpoints)) {
      const url = readAddress(endpoints);
      return url === undefined ? undefined : { url, by: `its data is in ${data}` };
    }
    if (at === dirname(at)) return undefined;
  }
}

/** Undefined where it is somebody else's, or is being written. */
function readAddress(endpoints: string): string | undefined {
  try {
    const { http } = Object(JSON.parse(readFileSync(endpoints, 'utf8'))) as { readonly http?: unknown };
    return typeof http === 'string' && URL.canParse(http) && isLoopback(http) ? http : undefined;
  } catch {
    return undefined;
  }
}

/** The file stays where it is when a stack ends. */
function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: CONNECT_MS });
    const end = (does: boolean) => (): void => {
      socket.destroy();
      resolve(does);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

/** Something else may use the port. */
async function isSchemaless(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(HEALTH_MS) });
    const { version, groups } = Object(await response.json());
    return typeof version === 'string' && Array.isArray(groups);
  } catch {
    return false;
  }
}
