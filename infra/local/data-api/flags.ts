import { InvalidArgumentError, Option } from 'commander';
import { checkFault, FAULT_KINDS, type FaultOrder } from './faults.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import type { DataApiCluster, Login } from './logins.ts';

/** Any that another local service does not use by default. */
const DEFAULT_PORT = 4005;
const MYSQL_PORT = 3306;

/** A limit by the name that the command has for it; `unit` is what its value counts, in the limit's own unit. */
const LIMIT_FLAGS: Readonly<Record<string, { readonly limit: keyof Limits; readonly unit: number }>> = {
  'request-bytes': { limit: 'requestBytes', unit: 1 },
  'sql-characters': { limit: 'sqlCharacters', unit: 1 },
  'result-bytes': { limit: 'resultBytes', unit: 1 },
  'row-bytes': { limit: 'rowBytes', unit: 1 },
  'formatted-bytes': { limit: 'formattedBytes', unit: 1 },
  'statement-seconds': { limit: 'statementMs', unit: 1000 },
  'transaction-idle-seconds': { limit: 'transactionIdleMs', unit: 1000 },
  'transaction-total-seconds': { limit: 'transactionTotalMs', unit: 1000 },
  'single-statement': { limit: 'singleStatement', unit: 0 },
  'single-call': { limit: 'singleCall', unit: 0 },
  'no-schema': { limit: 'noSchema', unit: 0 },
  'argument-lengths': { limit: 'argumentLengths', unit: 0 },
};

export interface DataApiFlags {
  readonly cluster?: readonly DataApiCluster[];
  readonly mysql?: Login;
  readonly host: string;
  readonly port: number;
  readonly limit?: Partial<Limits>;
  readonly fault?: readonly FaultOrder[];
  readonly seed: number;
  readonly quiet?: true;
}

export function dataApiFlags(): readonly Option[] {
  return [
    new Option(
      '--mysql <url>',
      'a server that answers for every resource ARN: mysql://user:password@host:port',
    ).argParser(parseMysqlUrl),
    new Option(
      '--cluster <arn=url>',
      'a resource ARN and its server, ARN=mysql://user:password@host:port; repeatable',
    ).argParser((value, before: readonly DataApiCluster[] = []) => [...before, parseCluster(value)]),
    new Option('--host <address>', 'to listen on; there is no authorization').default('127.0.0.1'),
    wholeNumberFlag('--port <port>', '0 for any free one', 0, 65_535).default(DEFAULT_PORT),
    new Option(
      '--limit <name=value|off>',
      `a limit to change or switch off; repeatable. Names: ${Object.keys(LIMIT_FLAGS).join(', ')}`,
    ).argParser((value, before: Partial<Limits> = {}) => ({ ...before, ...parseLimit(value) })),
    new Option(
      '--fault <kind=share>',
      `what happens to a share of the calls, 0 to 1; repeatable. Kinds: ${FAULT_KINDS.join(', ')}`,
    ).argParser((value, before: readonly FaultOrder[] = []) => [...before, parseFault(value)]),
    wholeNumberFlag('--seed <number>', "of the faults' randomness", 0, 4_294_967_295).default(1),
    new Option('--quiet', 'shows no calls that failed'),
  ];
}

function wholeNumberFlag(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((value: string) => {
    if (/^\d{1,10}$/u.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    throw new InvalidArgumentError(`Wanted a whole number from ${min} to ${max}, got ${JSON.stringify(value)}.`);
  });
}

export function parseMysqlUrl(text: string): Login {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    !url ||
    url.protocol !== 'mysql:' ||
    url.hostname === '' ||
    url.username === '' ||
    !['', '/'].includes(url.pathname)
  ) {
    throw new InvalidArgumentError(`Wanted mysql://user:password@host:port, got ${JSON.stringify(text)}.`);
  }
  // A host in brackets is an IPv6 address.
  const host = url.hostname.replace(/^\[(.*)\]$/u, '$1');
  return {
    host,
    port: url.port === '' ? MYSQL_PORT : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  };
}

export function parseCluster(text: string): DataApiCluster {
  const at = text.indexOf('=mysql:');
  if (at < 1)
    throw new InvalidArgumentError(`Wanted ARN=mysql://user:password@host:port, got ${JSON.stringify(text)}.`);
  return { resourceArn: text.slice(0, at), ...parseMysqlUrl(text.slice(at + 1)) };
}

export function parseLimit(text: string): Partial<Limits> {
  const [name = '', value = ''] = text.split('=', 2);
  const flag = LIMIT_FLAGS[name];
  if (!flag)
    throw new InvalidArgumentError(
      `Wanted one of ${Object.keys(LIMIT_FLAGS).join(', ')}, got ${JSON.stringify(name)}.`,
    );
  const { limit, unit } = flag;
  if (typeof DEFAULT_LIMITS[limit] === 'boolean') {
    if (value !== 'on' && value !== 'off')
      throw new InvalidArgumentError(`Wanted ${name}=on or ${name}=off, got ${JSON.stringify(text)}.`);
    return { [limit]: value === 'on' };
  }
  if (value === 'off') return { [limit]: Number.POSITIVE_INFINITY };
  if (!/^\d{1,12}(?:\.\d{1,3})?$/u.test(value) || Number(value) === 0)
    throw new InvalidArgumentError(`Wanted ${name}= and a number over 0, or off, got ${JSON.stringify(text)}.`);
  return { [limit]: Number(value) * unit };
}

export function parseFault(text: string): FaultOrder {
  const [kind = '', share = ''] = text.split('=', 2);
  try {
    return checkFault({ kind, share: share === '' ? Number.NaN : Number(share) });
  } catch (error) {
    throw new InvalidArgumentError(
      `Wanted KIND=SHARE, for instance resuming=0.1, got ${JSON.stringify(text)}: ${error instanceof Error ? error.message : ''}.`,
    );
  }
}
