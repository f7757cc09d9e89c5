import type { Service } from '../emulators/emulator.ts';
import type { FunctionStatus } from '../lambda/function-host.ts';
import type { NodeStatus } from '../mysql/shard-groups.ts';
import type { LocalStack } from '../local-stack.ts';
import type { Commands } from './control-server.ts';
import { queueStatus, type QueueStatus } from './queue-status.ts';
import { triggerStatus, type TriggerState } from './trigger-status.ts';

/** What `status` shows of a running stack. */
export interface StackStatus {
  readonly url: string;
  readonly pid: number;
  readonly engine: string;
  readonly nodes: readonly NodeStatus[];
  readonly functions: readonly FunctionStatus[];
  readonly functionMode: string;
  readonly functionLog: string;
  readonly tailers: number;
  readonly triggers: readonly TriggerState[];
  readonly queues: readonly QueueStatus[];
}

type CommandedStack = Pick<LocalStack, 'groups' | 'functions' | 'services' | 'url' | 'functionLog' | 'tailers' | 'queues' | 'datastores'>;

export function commandsOf(stack: CommandedStack): Commands {
  const { groups, services } = stack;
  const serviceOf = (name: string): Service | undefined => (name === 'dynamodb' || name === 'sqs' ? services[name] : undefined);
  return {
    status: () => statusOf(stack),
    kill: (name) => serviceOf(name)?.kill() ?? groups.kill(name),
    pause: (node) => groups.pause(node),
    resume: (name) => serviceOf(name)?.resume() ?? groups.resume(name),
    promote: (group) => groups.promote(group),
    tailers: (count) => stack.tailers.set(/^\d{1,5}$/u.test(count) ? Number(count) : Number.NaN),
  };
}

async function statusOf({ groups, functions, services, url, functionLog, tailers, queues, datastores }: CommandedStack): Promise<StackStatus> {
  const [triggers, counted] = await Promise.all([triggerStatus(datastores, url), queueStatus(queues(), services.sqs.url)]);
  return {
    url,
    pid: process.pid,
    engine: `${groups.engine.kind} ${groups.engine.version}`,
    nodes: groups.status(),
    functions: functions.status(),
    functionMode: functions.mode,
    functionLog,
    tailers: tailers.count,
    triggers,
    queues: counted,
  };
}
