import { join } from 'node:path';
import { loadDefinitions } from '../shared/definitions/load-definitions.ts';
import { ACCESSES, type Access } from '../shared/environment.ts';
import { describe } from '../shared/errors.ts';
import { definitionsIn, MAX_TAILERS, MOST_KEPT_MINUTES } from './constructs/store-environment.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS, type EnvironmentName, type EnvironmentProps } from './environments.ts';

export const PROJECT_ROOT = join(import.meta.dirname, '..');

/** Of every environment. */
const COMMON_KEYS = [
  'environment',
  /** Folder of the datastores' YAML. @default infra/datastores */
  'datastores',
  /** Folder of the functions. @default functions */
  'functions',
  /** Folder that the triggers' functions are given from. @default the root of the repository */
  'project',
  /** Not of `prod`: `off` leaves the functions that run all the time unstarted. @default on */
  'schedules',
] as const;

/** The deployment target of an environment other than `local`. @default the one in `environments.ts` */
const BINDING_KEYS = [
  /** The only account that it may be deployed in. */
  'account',
  /** The only region that it may be deployed in. */
  'region',
  /** Ids of two or three availability zones, with commas between them. @default those of the region */
  'zones',
  /** The private range of the network, /16 to /20. */
  'cidr',
] as const;

/** Not of `local`. */
const DEPLOYED_KEYS = [
  ...BINDING_KEYS,
  /** The address that gets alarms by mail. @default none: alarms reach only subscribers of the topics */
  'alarmEmail',
  /** Only with backups: the ARN of a vault in another region, which gets a copy of each. */
  'backupVault',
] as const;

/** Of `local` alone; the other environments are described in `environments.ts`. */
const LOCAL_KEYS = [
  /** Shard groups, 1 to 20. @default 3 */
  'groups',
  /** Readers of each group, 0 to 5. @default 1 */
  'readers',
  /** The most shards that a datastore gets, 1 to 65,536. @default 64 */
  'shards',
  /** How functions reach MySQL, `mysql` or `data-api`. @default mysql */
  'access',
  /** Workers that tail the shards for the triggers, 1 to 64. @default 1 */
  'tailers',
  /** Minutes that copies are kept after they were drained, 0 to 10,080. @default 0 */
  'keepCopies',
  /** Origins of pages that may ask, with commas; `:*` for any port, `*` all, `none` none. @default this machine's */
  'cors',
] as const;

export const CONTEXT_KEYS = [...COMMON_KEYS, ...DEPLOYED_KEYS, ...LOCAL_KEYS] as const;
type ContextKey = (typeof CONTEXT_KEYS)[number];

/** The app's input: the CDK's context (`-c environment=prod`). Values may be strings. */
export type AppContext = { readonly [Key in ContextKey]?: unknown };

export type AppProps = ReturnType<typeof readAppContext>;

/**
 * Reads and checks the context. Throws an `Error` that names the key, what was wanted and what came. Calls `warn`
 * for definitions that will be regretted.
 */
export function readAppContext(context: AppContext, warn: (warning: string) => void = () => undefined) {
  const environment = environmentOf(context);
  const folder = textOf(context.datastores) ?? join(PROJECT_ROOT, 'infra', 'datastores');
  const projectFolder = textOf(context.project) ?? PROJECT_ROOT;
  const definitions = loadDefinitions(
    folder,
    ({ file, line, message }) => warn(`${file}:${line}: ${message}`),
    projectFolder,
  );
  return {
    environment,
    /** With the environment's shard counts. */
    definitions: definitionsIn(environment, definitions),
    /** Absolute path. */
    functionsFolder: textOf(context.functions) ?? join(PROJECT_ROOT, 'functions'),
    /** Absolute path that the triggers' functions are given from. */
    projectFolder,
    alarmEmail: matching(
      'alarmEmail',
      context.alarmEmail ?? environment.alarmEmail,
      /^\S+@\S+$/u,
      'an address such as team@example.com',
    ),
  };
}

function environmentOf(context: AppContext): EnvironmentProps {
  const name = ENVIRONMENT_NAMES.find((known) => known === context.environment);
  if (!name)
    throw new Error(
      `environment: wanted one of ${ENVIRONMENT_NAMES.join(', ')} (-c environment=NAME), got ${describe(context.environment)}`,
    );
  const schedules = schedulesOf(context.schedules);
  if (name === 'local') {
    refuse(context, DEPLOYED_KEYS, 'local is deployed nowhere');
    return { ...localEnvironment(context), schedules };
  }
  refuse(context, LOCAL_KEYS, `${name} is described in infra/environments.ts`);
  if (name === 'prod' && context.schedules !== undefined)
    throw new Error(`schedules: wanted nothing, since those of prod are always on, got ${describe(context.schedules)}`);
  return { ...ENVIRONMENTS[name], ...bindingOf(context), ...backupsOf(ENVIRONMENTS[name], context), schedules };
}

function refuse(context: AppContext, keys: readonly ContextKey[], reason: string): void {
  for (const key of keys) {
    if (context[key] !== undefined)
      throw new Error(`${key}: wanted nothing, since ${reason}, got ${describe(context[key])}`);
  }
}

/** Returns the account, region, zones and range that the context sets. The network checks zones and addresses. */
function bindingOf(context: AppContext): Pick<EnvironmentProps, (typeof BINDING_KEYS)[number]> {
  const account = matching('account', context.account, /^\d{12}$/u, 'twelve digits');
  const region = matching('region', context.region, /^[a-z]{2}(?:-[a-z]+)+-\d$/u, 'a region such as eu-west-1');
  const zones = matching('zones', context.zones, /\S/u, 'zone ids with commas between them');
  const cidr = matching('cidr', context.cidr, /\S/u, 'a range such as 10.0.0.0/16');
  return {
    ...(account !== undefined && { account }),
    ...(region !== undefined && { region }),
    ...(zones !== undefined && { zones: zones.split(',').map((id) => id.trim()) }),
    ...(cidr !== undefined && { cidr }),
  };
}

function backupsOf(
  { name, backups }: EnvironmentProps,
  { backupVault }: AppContext,
): Pick<EnvironmentProps, 'backups'> {
  const copyTo = matching('backupVault', backupVault, /^arn:\S+$/u, 'the ARN of a vault of AWS Backup');
  if (copyTo === undefined) return {};
  if (!backups)
    throw new Error(`backupVault: wanted nothing, since ${name} has no backups, got ${describe(backupVault)}`);
  return { backups: { ...backups, copyTo } };
}

function matching(key: string, value: unknown, form: RegExp, wanted: string): string | undefined {
  // cdk.json may hold the digits of an account as a number.
  const text = typeof value === 'number' ? String(value) : value;
  if (text === undefined || (typeof text === 'string' && form.test(text))) return text;
  throw new Error(`${key}: wanted ${wanted}, got ${describe(value)}`);
}

function schedulesOf(value: unknown): boolean {
  if (value === undefined || value === 'on') return true;
  if (value === 'off') return false;
  throw new Error(`schedules: wanted on or off, got ${describe(value)}`);
}

export function localEnvironment(context: Pick<AppContext, (typeof LOCAL_KEYS)[number]>): EnvironmentProps {
  const local = ENVIRONMENTS['local' satisfies EnvironmentName];
  const groups = wholeNumber('groups', context.groups, 1, 20) ?? local.groups;
  const bufferCopies = Math.min(local.bufferCopies, Math.max(0, groups - 2));
  const keepCopiesMinutes = wholeNumber('keepCopies', context.keepCopies, 0, MOST_KEPT_MINUTES);
  const maxShards = wholeNumber('shards', context.shards, 1, 65_536) ?? local.maxShards ?? 65_536;
  return {
    ...local,
    groups,
    readersPerGroup: wholeNumber('readers', context.readers, 0, 5) ?? local.readersPerGroup,
    bufferCopies,
    ...(keepCopiesMinutes !== undefined && { keepCopiesMinutes }),
    access: accessOf(context.access) ?? local.access,
    tailers: wholeNumber('tailers', context.tailers, 1, MAX_TAILERS) ?? local.tailers,
    corsOrigins: originsOf(context.cors) ?? local.corsOrigins,
    maxShards,
    definedByApi: { mostShards: maxShards },
  };
}

const ORIGIN = /^https?:\/\/(?:[\w.-]+|\[[\da-f:]+\])(?::(?:\d{1,5}|\*))?$/u;

function originsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (value === 'none') return [];
  const origins = typeof value === 'string' ? value.split(',').map((origin) => origin.trim()) : [];
  if (value === '*' || (origins.length > 0 && origins.every((origin) => ORIGIN.test(origin)))) return origins;
  throw new Error(
    `cors: wanted *, none, or origins such as http://localhost:5173 with commas between them, got ${describe(value)}`,
  );
}

function accessOf(value: unknown): Access | undefined {
  const access = ACCESSES.find((known) => known === value);
  if (access === undefined && value !== undefined)
    throw new Error(`access: wanted ${ACCESSES.join(' or ')}, got ${describe(value)}`);
  return access;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function wholeNumber(key: string, value: unknown, min: number, max: number): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^\d+$/u.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number;
  throw new Error(`${key}: wanted a whole number from ${min} to ${max}, got ${describe(value)}`);
}
