import { InvalidArgumentError, Option } from 'commander';
import { ACCESSES } from '../../../shared/environment.ts';
import { MAX_TAILERS, MOST_KEPT_MINUTES } from '../../constructs/store-environment.ts';
import { SERVER_SIZES } from '../mysql/node-status.ts';
import { DEFAULT_OPTIONS } from '../stack/local-stack-options.ts';

/** `--small`: no readers, so an unavailable server's reads stop. A single group would keep no hints. */
export const SMALL = { readers: 0, functionIdle: 20 } as const;

/** For a new folder; an existing one keeps its number. */
export const SMALL_GROUPS = 3;
export const SMALL_SHARDS = 16;

/** Flags by the names of their values. */
const FLAGS = { groups: '--groups', readers: '--readers', functionIdle: '--function-idle' } as const;

function smallFlag(): Option {
  return new Option(
    '--small',
    `under 1 GB of memory: ${SMALL_GROUPS} groups at first, without readers, ${SMALL_SHARDS} shards at first, functions let go after ${SMALL.functionIdle} s`,
  ).implies({ ...SMALL });
}

interface CheckedFlags extends Readonly<Record<keyof typeof SMALL, number>> {
  readonly groups?: number | undefined;
  readonly small?: boolean;
}

/** Throws `InvalidArgumentError` for a flag that contradicts the preset. */
export function checkSmall({ small, groups = SMALL_GROUPS, readers, functionIdle }: CheckedFlags): void {
  if (small !== true) return;
  const [wanted, got] = [
    { groups: SMALL_GROUPS, ...SMALL },
    { groups, readers, functionIdle },
  ];
  for (const key of ['groups', 'readers', 'functionIdle'] as const)
    if (got[key] !== wanted[key])
      throw new InvalidArgumentError(
        `${FLAGS[key]}: wanted ${wanted[key]}, which --small stands for, got ${got[key]}: leave out one of the two`,
      );
}

export function wholeNumberFlag(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((value: string) => {
    if (/^\d{1,10}$/u.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    throw new InvalidArgumentError(`Wanted a whole number from ${min} to ${max}, got ${JSON.stringify(value)}.`);
  });
}

function secondsFlag(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string) => {
    if (/^\d{1,6}(\.\d+)?$/u.test(value) && Number(value) <= 86_400) return Number(value);
    throw new InvalidArgumentError(`Wanted a number of seconds from 0 to 86400, got ${JSON.stringify(value)}.`);
  });
}

function choiceFlag(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).argParser((value: string) => {
    if (choices.includes(value)) return value;
    throw new InvalidArgumentError(`Wanted ${choices.join(' or ')}, got ${JSON.stringify(value)}.`);
  });
}

export function dataFlag(): Option {
  return new Option('--data <folder>', 'where the stack keeps its data').default(DEFAULT_OPTIONS.data);
}

export function startFlags(): readonly Option[] {
  return [
    wholeNumberFlag('--port <port>', 'of the HTTP API on 127.0.0.1, 0 for any free one', 0, 65_535).default(
      DEFAULT_OPTIONS.port,
    ),
    dataFlag(),
    smallFlag(),
    wholeNumberFlag(
      '--groups <count>',
      'shard groups, a MySQL writer with readers each; may become more (default: as many as last time, 3 at first)',
      1,
      20,
    ),
    wholeNumberFlag('--readers <count>', 'readers of each group', 0, 5).default(DEFAULT_OPTIONS.readers),
    wholeNumberFlag(
      '--shards <count>',
      'the most that a datastore gets; fixed once it exists (default: as many as last time, 64 at first)',
      1,
      65_536,
    ),
    choiceFlag('--engine <name>', 'mysql or mariadb (default: MySQL if it is on the machine, else MariaDB)', [
      'mysql',
      'mariadb',
    ]),
    choiceFlag('--server-size <size>', 'of the MySQL servers: small, or full, for figures', SERVER_SIZES).default(
      DEFAULT_OPTIONS.serverSize,
    ),
    secondsFlag('--restart-after <seconds>', 'when a server that died is started again, 0 for never').default(
      DEFAULT_OPTIONS.restartAfterSeconds,
    ),
    choiceFlag('--functions <where>', 'threads, or process: each function in a process that can be killed', [
      'threads',
      'process',
    ]).default(DEFAULT_OPTIONS.functions),
    wholeNumberFlag(
      '--concurrency <count>',
      'requests that an instance of an API function takes at once; on AWS 1, or up to 64 (default: all)',
      1,
      1000,
    ),
    wholeNumberFlag(
      '--function-memory <MB>',
      'heap of each function, which ends when it needs more (default: its memory in the cloud)',
      64,
      10_240,
    ),
    secondsFlag(
      '--function-idle <seconds>',
      'after which an idle instance is stopped, as in the cloud; 0 for never',
    ).default(DEFAULT_OPTIONS.functionIdleSeconds),
    wholeNumberFlag(
      '--tailers <count>',
      'workers that send cells to the triggers (default: as many as last time, 1 at first)',
      1,
      MAX_TAILERS,
    ),
    wholeNumberFlag(
      '--keep-copies <minutes>',
      'that copies of writes stay on other groups, for a group that is restored (default: as last time, 0 at first)',
      0,
      MOST_KEPT_MINUTES,
    ),
    choiceFlag('--access <way>', 'how functions reach MySQL: mysql, or data-api', ACCESSES).default(
      DEFAULT_OPTIONS.access,
    ),
    new Option('--check-signatures', 'refuse requests that are not signed as those to AWS are (SigV4)').default(
      DEFAULT_OPTIONS.checkSignatures,
    ),
    new Option(
      '--cors <origins>',
      'web pages that may ask, such as http://localhost:5173, with commas between them; * for all, none for none (default: those of this machine)',
    ),
    new Option('--no-watch', 'leave changed functions and YAML to the next start'),
    new Option('--datastores <folder>', "folder of the datastores' YAML (default: infra/datastores)"),
  ];
}
