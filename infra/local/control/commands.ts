import type { Service } from '../emulators/emulator.ts';
import type { FunctionStatus } from '../lambda/function-host.ts';
import type { NodeStatus } from '../mysql/shard-groups.ts';
import type { LocalStack } from '../local-stack.ts';
import type { Commands } from './control-server.ts';

/** What `status` shows of a running stack. */
export interface StackStatus {
  readonly url: string;
  readonly pid: number;
  readonly engine: string;
  readonly nodes: readonly NodeStatus[];
  readonly functions: readonly FunctionStatus[];
  readonly functionMode: string;
  readonly functionLog: string;
}

export function commandsOf(stack: Pick<LocalStack, 'groups' | 'functions' | 'services' | 'url' | 'functionLog'>): Commands {
  const { groups, functions, services } = stack;
  const serviceOf = (name: string): Service | undefined => (name === 'dynamodb' || name === 'sqs' ? services[name] : undefined);
  return {
    status: (): StackStatus => ({
      url: stack.url,
      pid: process.pid,
      engine: `${groups.engine.kind} ${groups.engine.version}`,
      nodes: groups.status(),
      functions: functions.status(),
      functionMode: functions.mode,
      functionLog: stack.functionLog,
    }),
    kill: (name) => serviceOf(name)?.kill() ?? groups.kill(name),
    pause: (node) => groups.pause(node),
    resume: (name) => serviceOf(name)?.resume() ?? groups.resume(name),
    promote: (group) => groups.promote(group),
  };
}
