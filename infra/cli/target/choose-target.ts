import { CommandError } from '../command-error.ts';
import { findLocalStack } from './find-local-stack.ts';
import { checkUrl, findProfile, profilesFile, readProfiles, type Profile } from './profiles.ts';

export interface TargetFlags {
  readonly profile?: string;
  readonly url?: string;
  readonly datastore?: string;
  readonly sign?: boolean;
  readonly region?: string;
}

export interface Target {
  readonly url: string;
  /** How it was chosen, for messages. */
  readonly by: string;
  /** Undefined: the only one that there is. */
  readonly datastore: string | undefined;
  readonly sign: boolean;
  readonly region: string | undefined;
  readonly awsProfile: string | undefined;
}

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** Where a local stack is looked for that is not found by its data. */
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
  // A URL that was typed is not that of a profile that was not: its credentials are not for it.
  const unsaid = flags.url === undefined ? ofEnvironment : undefined;
  const name = flags.profile ?? unsaid ?? (isUrlElsewhere ? undefined : readProfiles(file).current);
  const profile = name === undefined ? {} : findProfile(file, name);
  const { url, by } = await chooseUrl({ flags, environmentUrl, profile, name }, at);
  const ofFlag = flags.profile === undefined ? undefined : profile.datastore;
  const host = new URL(url).hostname;
  return {
    url,
    by,
    datastore: flags.datastore ?? ofFlag ?? named(environment['SCHEMALESS_DATASTORE']) ?? profile.datastore,
    sign: flags.sign ?? profile.sign ?? API_GATEWAY.test(host),
    region: flags.region ?? profile.region ?? API_GATEWAY.exec(host)?.[1] ?? regionOf(environment),
    awsProfile: profile.aws_profile,
  };
}

interface Choices {
  readonly flags: TargetFlags;
  readonly environmentUrl: string | undefined;
  readonly profile: Profile;
  readonly name: string | undefined;
}

async function chooseUrl(
  { flags, environmentUrl, profile, name }: Choices,
  { folder, usualUrl }: Surroundings,
): Promise<Pick<Target, 'url' | 'by'>> {
  if (flags.url !== undefined) return { url: checkUrl(flags.url, '--url'), by: '--url' };
  if (environmentUrl !== undefined) return { url: checkUrl(environmentUrl, 'SCHEMALESS_URL'), by: 'SCHEMALESS_URL' };
  if (profile.url !== undefined) return { url: profile.url, by: `the profile ${name}` };
  const found = await findLocalStack(folder, usualUrl);
  if (found) return found;
  throw new CommandError('No API: no URL is given, and no local stack was found', {
    ending: 'usage',
    cure: 'Start a stack with npm start, or name an API: --url URL, SCHEMALESS_URL, or a profile (schemaless profile set NAME --url URL)',
  });
}

/** An empty variable is none. */
function named(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function regionOf(environment: Surroundings['environment']): string | undefined {
  return named(environment['AWS_REGION']) ?? named(environment['AWS_DEFAULT_REGION']);
}
