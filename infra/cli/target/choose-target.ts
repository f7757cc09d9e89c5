import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { dataFolder, isDataFolder } from '../../local/folder/data-folder.ts';
import { DEFAULT_OPTIONS } from '../../local/stack/local-stack-options.ts';
import { CommandError } from '../errors.ts';
import { checkUrl, findProfile, profilesFile, readProfiles } from './profiles.ts';

export interface TargetFlags {
  readonly profile?: string;
  readonly url?: string;
  readonly datastore?: string;
  readonly sign?: boolean;
  readonly region?: string;
}

export interface Target {
  readonly url: string;
  /** The reason for the choice, for messages. */
  readonly by: string;
  /** Undefined: the only one. */
  readonly datastore: string | undefined;
  readonly sign: boolean;
  readonly region: string | undefined;
  readonly awsProfile: string | undefined;
}

interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** The URL to try for a local stack if no data folder is found. */
  readonly usualUrl: string;
}

const API_GATEWAY = /\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/u;

/**
 * Chooses by flag, environment, current profile, then a local stack. A profile that a flag names goes before the
 * environment. A URL from elsewhere ignores the current profile: its datastore or credentials may belong elsewhere.
 * Throws a CommandError.
 */
export async function chooseTarget(flags: TargetFlags, at: Surroundings): Promise<Target> {
  const { environment } = at;
  const file = profilesFile(environment);
  const ofEnvironment = named(environment['SCHEMALESS_PROFILE']);
  const environmentUrl = flags.profile === undefined ? named(environment['SCHEMALESS_URL']) : undefined;
  const isUrlElsewhere = flags.url !== undefined || environmentUrl !== undefined;
  // A typed URL ignores an untyped profile, whose credentials are for another API.
  const unsaid = flags.url === undefined ? ofEnvironment : undefined;
  const name = flags.profile ?? unsaid ?? (isUrlElsewhere ? undefined : readProfiles(file).current);
  const profile = name === undefined ? {} : findProfile(file, name);
  const { url, by } =
    flags.url !== undefined
      ? { url: checkUrl(flags.url, '--url'), by: '--url' }
      : environmentUrl !== undefined
        ? { url: checkUrl(environmentUrl, 'SCHEMALESS_URL'), by: 'SCHEMALESS_URL' }
        : profile.url !== undefined
          ? { url: profile.url, by: `the profile ${name}` }
          : await findLocalStack(at.folder, at.usualUrl);
  const ofFlag = flags.profile === undefined ? undefined : profile.datastore;
  const host = new URL(url).hostname;
  const region = named(environment['AWS_REGION']) ?? named(environment['AWS_DEFAULT_REGION']);
  return {
    url,
    by,
    datastore: flags.datastore ?? ofFlag ?? named(environment['SCHEMALESS_DATASTORE']) ?? profile.datastore,
    sign: flags.sign ?? profile.sign ?? API_GATEWAY.test(host),
    region: flags.region ?? profile.region ?? API_GATEWAY.exec(host)?.[1] ?? region,
    awsProfile: profile.aws_profile,
  };
}

/** Treats an empty variable as unset. */
function named(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

export const USUAL_URL = `http://127.0.0.1:${DEFAULT_OPTIONS.port}`;
const CONNECT_MS = 2000;
const HEALTH_MS = 10_000;

/** Finds the stack with `.local` in this folder or a parent; else a Schemaless at the usual address. */
async function findLocalStack(folder: string, usualUrl: string): Promise<Pick<Target, 'url' | 'by'>> {
  const near = stackAbove(folder);
  if (near && (await listens(near.url))) return near;
  if (await isSchemaless(usualUrl)) return { url: usualUrl, by: `it answers at ${usualUrl}` };
  throw new CommandError('No API: no URL is given, and no local stack was found', {
    ending: 'usage',
    fix: 'Start a stack with npm start, or name an API: --url URL, SCHEMALESS_URL, or a profile (schemaless profile set NAME --url URL)',
  });
}

function stackAbove(folder: string): Pick<Target, 'url' | 'by'> | undefined {
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

/** Returns undefined for another program's file, or an incomplete one. */
function readAddress(endpoints: string): string | undefined {
  try {
    const { http } = Object(JSON.parse(readFileSync(endpoints, 'utf8'))) as { readonly http?: unknown };
    return typeof http === 'string' && URL.canParse(http) && isLoopback(http) ? http : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the port, since the file remains after a stack ends. */
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

/** Checks the answer, since another program may use the port. */
async function isSchemaless(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(HEALTH_MS) });
    const { version, groups } = Object(await response.json());
    return typeof version === 'string' && Array.isArray(groups);
  } catch {
    return false;
  }
}

export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/u.test(hostname);
}
