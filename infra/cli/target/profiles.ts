import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { closestName } from '../../../shared/closest-name.ts';
import { writeFileAtomically } from '../../local/folder/state-file.ts';
import { badUsage, CommandError } from '../errors.ts';

export interface Profile {
  readonly url?: string;
  readonly datastore?: string;
  /** Signs requests with AWS Signature Version 4. @default true for URLs of API Gateway */
  readonly sign?: boolean;
  readonly region?: string;
  /** The AWS profile whose credentials sign. @default the AWS SDK's choice */
  readonly aws_profile?: string;
}

interface Profiles {
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const KEYS = ['url', 'datastore', 'sign', 'region', 'aws_profile'] as const satisfies readonly (keyof Profile)[];
const NAME = /^[\w.-]{1,64}$/u;

/** Returns `~/.config/schemaless/profiles.yaml`, or its path below XDG_CONFIG_HOME. */
export function profilesFile(environment: Environment): string {
  const base = environment['XDG_CONFIG_HOME'];
  // The XDG standard ignores relative paths.
  const folder = base !== undefined && base.startsWith('/') ? base : join(homedir(), '.config');
  return join(folder, 'schemaless', 'profiles.yaml');
}

/** Reads the profiles; none without a file. Throws a CommandError that names the file and the invalid key. */
export function readProfiles(file: string): Profiles {
  if (!existsSync(file)) return { profiles: {} };
  const document = parseDocument(readFileSync(file, 'utf8'));
  const [error] = document.errors;
  if (error) throw badUsage(file, 'YAML', error.message.split('\n')[0] ?? '');
  const value: unknown = document.toJS() ?? {};
  if (!isObject(value)) throw badUsage(file, 'the keys current and profiles', 'something else');
  const { current, profiles = {}, ...others } = value;
  const [other] = Object.keys(others);
  if (other !== undefined) throw unknownKey(file, other, ['current', 'profiles']);
  if (current !== undefined && typeof current !== 'string')
    throw badUsage(`${file}: current`, 'the name of a profile', JSON.stringify(current));
  if (!isObject(profiles)) throw badUsage(`${file}: profiles`, 'profiles by their names', JSON.stringify(profiles));
  return {
    current,
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, profile]) => [name, checkProfile(profile, `${file}: ${name}`)]),
    ),
  };
}

/** Replaces the file atomically, readable only by its owner. */
export function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { current, ...rest } = profiles;
  writeFileAtomically(file, stringify(current === undefined ? rest : { current, ...rest }));
}

export function findProfile(file: string, name: string): Profile {
  const { profiles } = readProfiles(file);
  if (Object.hasOwn(profiles, name)) return profiles[name] ?? {};
  const known = Object.keys(profiles);
  const likely = closestName(name, known);
  throw new CommandError(
    `profile: wanted ${known.length === 0 ? 'a profile, of which there are none' : `one of ${known.join(', ')}`}, got ${JSON.stringify(name)}${likely === undefined ? '' : `; did you mean ${likely}?`}`,
    { ending: 'notFound', fix: `Create it: schemaless profile set ${name} --url URL` },
  );
}

export function checkProfileName(name: string): string {
  if (NAME.test(name)) return name;
  throw badUsage('name', '1 to 64 of A-Z a-z 0-9 _ . -', JSON.stringify(name.slice(0, 80)));
}

export function checkProfile(value: unknown, source: string): Profile {
  if (!isObject(value)) throw badUsage(source, `the keys ${KEYS.join(', ')}`, JSON.stringify(value));
  for (const [key, one] of Object.entries(value)) {
    if (!(KEYS as readonly string[]).includes(key)) throw unknownKey(source, key, KEYS);
    const type = key === 'sign' ? 'boolean' : 'string';
    if (typeof one !== type)
      throw badUsage(`${source}: ${key}`, type === 'boolean' ? 'true or false' : 'text', JSON.stringify(one));
  }
  if (typeof value['url'] === 'string') checkUrl(value['url'], `${source}: url`);
  return value;
}

export function checkUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === '') return text;
  throw badUsage(source, 'an http or https URL, like http://127.0.0.1:4000', JSON.stringify(text.slice(0, 200)));
}

function unknownKey(source: string, key: string, known: readonly string[]): CommandError {
  const likely = closestName(key, known);
  return badUsage(
    source,
    `the keys ${known.join(', ')}`,
    `${key}${likely === undefined ? '' : `; did you mean ${likely}?`}`,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
