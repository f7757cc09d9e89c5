import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { closestName } from '../../../shared/closest-name.ts';
import { badUsage, CommandError } from '../errors.ts';

export interface Profile {
  readonly url?: string;
  readonly datastore?: string;
  /** Signs requests with AWS Signature Version 4. @default where the URL is one of API Gateway */
  readonly sign?: boolean;
  readonly region?: string;
  /** The profile of AWS whose credentials sign. @default as the AWS SDK chooses */
  readonly aws_profile?: string;
}

interface Profiles {
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const KEYS = ['url', 'datastore', 'sign', 'region', 'aws_profile'] as const satisfies readonly (keyof Profile)[];
const NAME = /^[\w.-]{1,64}$/u;

/** `~/.config/schemaless/profiles.yaml`, or where XDG says. */
export function profilesFile(environment: Environment): string {
  const base = environment['XDG_CONFIG_HOME'];
  // The standard has relative paths ignored.
  const folder = base !== undefined && base.startsWith('/') ? base : join(homedir(), '.config');
  return join(folder, 'schemaless', 'profiles.yaml');
}

/** None where there is no file. Throws a CommandError that names the file and the key at fault. */
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

/** Whole or not at all, for its owner alone. */
export function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { current, ...rest } = profiles;
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, stringify(current === undefined ? rest : { current, ...rest }), { mode: 0o600 });
  renameSync(temporary, file);
}

export function findProfile(file: string, name: string): Profile {
  const { profiles } = readProfiles(file);
  if (Object.hasOwn(profiles, name)) return profiles[name] ?? {};
  const known = Object.keys(profiles);
  const likely = closestName(name, known);
  throw new CommandError(
    `profile: wanted ${known.length === 0 ? 'a profile, of which there are none' : `one of ${known.join(', ')}`}, got ${JSON.stringify(name)}${likely === undefined ? '' : `; did you mean ${likely}?`}`,
    { ending: 'notFound', cure: `Make it: schemaless profile set ${name} --url URL` },
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
