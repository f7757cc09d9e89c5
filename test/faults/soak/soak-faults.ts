import type { StackStatus } from '../../../infra/local/control/status.ts';
import { Random } from '../../support/random.ts';
import { kill } from '../../support/processes/stack-process.ts';
import type { WholeStack } from '../whole-stack.ts';

/** The pause between the end of one fault and the next. */
const PAUSE_MS = [3000, 9000] as const;
const LEAST_UNAVAILABLE_MS = 500;
const MOST_UNAVAILABLE_MS = 5000;

interface Scene {
  readonly random: Random;
  readonly command: WholeStack['send'];
  readonly status: StackStatus;
  readonly unavailable: () => Promise<void>;
}

/** Injects a fault. Returns its description, or nothing if it could not. */
type Fault = (scene: Scene) => Promise<string | undefined>;

const FAULTS: readonly [Fault, ...Fault[]] = [
  async ({ random, command, status }) => {
    const node = one(random, status.nodes)?.node;
    if (node === undefined) return undefined;
    await command('kill', node);
    return `kill -9 of ${node}`;
  },
  async ({ random, command, status, unavailable }) => {
    const node = one(random, status.nodes)?.node;
    if (node === undefined) return undefined;
    await command('pause', node);
    await unavailable();
    await command('resume', node);
    return `a pause of ${node}`;
  },
  async ({ random, command, status }) => {
    const group = one(random, status.nodes)?.node.replace(/-[a-z]$/u, '');
    if (group === undefined) return undefined;
    await command('promote', group);
    return `a promotion in ${group}`;
  },
  serviceUnavailable('sqs'),
  serviceUnavailable('dynamodb'),
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
 * Breaks something of the stack again and again, one thing at a time, until the time is over. Returns the count of each
 * fault.
 */
export async function breakAtRandom(stack: WholeStack, seconds: number): Promise<ReadonlyMap<string, number>> {
  const { seed, say } = stack.world;
  const random = new Random(seed, 'soak faults', 0);
  const done = new Map<string, number>();
  const end = performance.now() + seconds * 1000;
  const command: Scene['command'] = (name, argument) => stack.send(name, argument);
  const unavailable = (): Promise<void> => stack.wait(random.between(LEAST_UNAVAILABLE_MS, MOST_UNAVAILABLE_MS));
  for (;;) {
    const pause = random.between(...PAUSE_MS);
    // The last one must be over when the load ends.
    if (performance.now() + pause + MOST_UNAVAILABLE_MS > end) break;
    await stack.wait(pause);
    const status = await stack.untilAllRun();
    const what = await random.pick(FAULTS)({ random, status, unavailable, command });
    if (what === undefined) continue;
    const kind = what.replace(/ (of|in) group-.*$/u, '');
    done.set(kind, (done.get(kind) ?? 0) + 1);
    say(what);
  }
  await stack.wait(Math.max(0, end - performance.now()));
  await stack.untilAllRun();
  return done;
}

function serviceUnavailable(name: 'sqs' | 'dynamodb'): Fault {
  return async ({ command, unavailable }) => {
    await command('kill', name);
    await unavailable();
    await command('resume', name);
    return `${name} away`;
  };
}

/** The messages of a killed consumer stay hidden for as long as a batch may take, six minutes. */
function consumes({ queues }: StackStatus, title: string): boolean {
  return queues.some(({ calls }) => calls === title);
}

function one<Item>(random: Random, items: readonly Item[]): Item | undefined {
  return items[random.integer(0, Math.max(0, items.length - 1))];
}
