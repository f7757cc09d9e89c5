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

export function commandsOf(stack: Pick<LocalStack, 'groups' | 'functions' | 'url' | 'functionLog'>): Commands {
  const { groups, functions } = stack;
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
    kill: (node) => groups.kill(node),
    pause: (node) => groups.pause(node),
    resume: (node) => groups.resume(node),
    promote: (group) => groups.promote(group),
  };
}
