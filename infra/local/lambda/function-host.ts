import { instanceEnvironment, type FunctionDefinition, type FunctionMode } from './function-definition.ts';
import type { FunctionLog } from './function-log.ts';
import { wholeText, type FunctionResult } from './function-result.ts';
import { FunctionError, functionPool, type FunctionPool } from './function-pool.ts';

export interface FunctionHostOptions {
  readonly definitions: readonly FunctionDefinition[];
  readonly mode: FunctionMode;
  /** ARNs of the functions whose instances answer many calls at once, in as many instances as `sharedInstances`. */
  readonly shared: ReadonlySet<string>;
  readonly sharedInstances: number;
  /** See `FunctionPoolOptions.idleMs`. */
  readonly idleMs: number;
  /** Environment variables that say where the services of AWS are. */
  readonly services: Readonly<Record<string, string>>;
  readonly log: FunctionLog;
}

/** Runs the functions of the template. */
export interface FunctionHost {
  readonly mode: FunctionMode;
  /** Calls a function by ARN; takes and returns JSON text. See `FunctionPool.invoke`. */
  invoke(arn: string, event: string): Promise<string>;
  /** The function to call again and again: the look-up is done once. */
  caller(arn: string): (event: string) => Promise<FunctionResult>;
  /** Ends all instances of a function, given by its title, at once. Throws for a title that is not known. */
  kill(title: string): Promise<void>;
  status(): readonly FunctionStatus[];
  stop(): Promise<void>;
}

export interface FunctionStatus {
  readonly title: string;
  readonly arn: string;
  readonly instances: readonly { readonly pid: number }[];
}

export function startFunctionHost({
  definitions,
  mode,
  shared,
  sharedInstances,
  idleMs,
  services,
  log,
}: FunctionHostOptions): FunctionHost {
  let stopped = false;
  const pools = new Map(
    definitions.map((definition): [string, FunctionPool] => [
      definition.arn,
      functionPool({
        definition,
        mode,
        environment: instanceEnvironment(definition, services),
        shared: shared.has(definition.arn) ? sharedInstances : undefined,
        idleMs,
        onOutput: (chunk, instance) => log.write(definition.title, instance, chunk),
      }),
    ]),
  );

  for (const pool of pools.values()) pool.warm();

  function caller(arn: string): (event: string) => Promise<FunctionResult> {
    const pool = pools.get(arn);
    if (!pool) throw new Error(`No function ${arn}: wanted one of ${[...pools.keys()].join(', ')}`);
    return (event) => (stopped ? Promise.reject(new FunctionError('The stack is stopping')) : pool.invoke(event));
  }

  return {
    mode,
    caller,
    invoke: async (arn, event) => wholeText(await caller(arn)(event)),
    async kill(title) {
      const pool = [...pools.values()].find(({ definition }) => definition.title === title);
      if (!pool)
        throw new Error(
          `${title}: wanted one of the functions ${[...pools.values()].map(({ definition }) => definition.title).join(', ')}`,
        );
      await pool.kill();
    },
    status: () =>
      [...pools.values()].map((pool) => ({
        title: pool.definition.title,
        arn: pool.definition.arn,
        instances: pool.pids().map((pid) => ({ pid })),
      })),
    async stop() {
      stopped = true;
      await Promise.all([...pools.values()].map((pool) => pool.kill()));
    },
  };
}
