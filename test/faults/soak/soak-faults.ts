import { setTimeout as sleep } from 'node:timers/promises';
import type { StackStatus } from '../../../infra/local/control/status.ts';
import { sendCommand } from '../../../infra/local/control/control-client.ts';
import { Random } from '../../support/random.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { kill } from '../../support/processes/stack-process.ts';
import { lookUntil } from '../../support/look-until.ts';

interface SoakFaults extends Pick<RunWorld, 'seed' | 'signal' | 'say'> {
  /** The stack's data folder. */
  readonly data: string;
  readonly seconds: number;
}

/** Between the end of one fault and the next. */
const PAUSE_MS = [3000, 9000] as const;
const LEAST_AWAY_MS = 500;
const MOST_AWAY_MS = 5000;
/** Until every server is in its role again. */
const PATIENCE_MS = 90_000;
const POLL_MS = 250;

interface Scene {
  readonly random: Random;
  readonly command: (name: string, argument: string) => Promise<unknown>;
  readonly status: StackStatus;
  readonly away: () => Promise<void>;
}

/** Each says what it did, or nothing where it could not. */
type Fault = (scene: Scene) => Promise<string | undefined>;

const FAULTS: readonly [Fault, ...Fault[]] = [
  async ({ random, command, status }) => {
    const node = one(random, status.nodes)?.node;
    if (node === undefined) return undefined;
    await command('kill', node);
    return `kill -9 of ${node}`;
  },
  async ({ random, command, status, away }) => {
    const node = one(random, status.nodes)?.node;
    if (node === undefined) return undefined;
    await command('pause', node);
    await away();
    await command('resume', node);
    return `a pause of ${node}`;
  },
  async ({ random, command, status }) => {
    const group = one(random, status.nodes)?.node.replace(/-[a-z]$/u, '');
    if (group === undefined) return undefined;
    await command('promote', group);
    return `a promotion in ${group}`;
  },
  serviceAway('sqs'),
  serviceAway('dynamodb'),
  async ({ random, status }) => {
    const killable = status.functions.filter(
      ({ title, instances }) => instances.length > 0 && !consumes(status, title),
    );
    const killed = one(random, killable);
    if (!killed) return undefined;
    for (const { pid } of killed.instances) if (pid !== status.pid) kill(pid);
    return `kill -9 of ${killed.title}`;
  },
];

/**
 * Breaks something of the stack again and again, one thing at a time, until the time is over. Returns how often it did
 * what.
 */
export async function breakAtRandom(options: SoakFaults): Promise<ReadonlyMap<string, number>> {
  const { data, seed, seconds, signal, say } = options;
  const random = new Random(seed, 'soak faults', 0);
  const done = new Map<string, number>();
  const end = performance.now() + seconds * 1000;
  const command: Scene['command'] = (name, argument) => sendCommand(data, name, argument);
  const away = (): Promise<void> => sleep(random.between(LEAST_AWAY_MS, MOST_AWAY_MS), undefined, { signal });
  for (;;) {
    const pause = random.between(...PAUSE_MS);
    // The last one is to be over when the load ends.
    if (performance.now() + pause + MOST_AWAY_MS > end) break;
    await sleep(pause, undefined, { signal });
    const status = await untilAllRun(data, signal);
    const what = await random.pick(FAULTS)({ random, status, away, command });
    if (what === undefined) continue;
    const kind = what.replace(/ (of|in) group-.*$/u, '');
    done.set(kind, (done.get(kind) ?? 0) + 1);
    say(what);
  }
  await sleep(Math.max(0, end - performance.now()), undefined, { signal });
  await untilAllRun(data, signal);
  return done;
}

/** Waits until every server is in its role, and returns the stack's status then. */
export async function untilAllRun(data: string, signal: AbortSignal): Promise<StackStatus> {
  const look = async (): Promise<StackStatus> => (await sendCommand(data, 'status')) as StackStatus;
  const isBack = ({ nodes }: StackStatus): boolean => nodes.every(({ state }) => state === 'running');
  const status = await lookUntil(look, isBack, { pollMs: POLL_MS, patienceMs: PATIENCE_MS, signal });
  if (isBack(status)) return status;
  throw new Error(`servers did not come back: ${JSON.stringify(status.nodes)}`);
}

function serviceAway(name: 'sqs' | 'dynamodb'): Fault {
  return async ({ command, away }) => {
    await command('kill', name);
    await away();
    await command('resume', name);
    return `${name} away`;
  };
}

/** What a consumer had in hand when it is killed stays hidden for as long as a batch may take, six minutes. */
function consumes({ queues }: StackStatus, title: string): boolean {
  return queues.some(({ calls }) => calls === title);
}

function one<Item>(random: Random, items: readonly Item[]): Item | undefined {
  return items[random.integer(0, Math.max(0, items.length - 1))];
}
