import { instanceEnvironment, type FunctionDefinition, type FunctionMode } from './function-definition.ts';
import type { FunctionLog } from './function-log.ts';
import { wholeText, type FunctionResult } from './function-result.ts';
import { FunctionError, functionPool, type CallCounts, type FunctionPool } from './function-pool.ts';

interface FunctionHostOptions {
  readonly mode: FunctionMode;
  readonly idleMs: number;
  readonly services: Readonly<Record<string, string>>;
  readonly log: FunctionLog;
}

export interface WantedFunctions {
  readonly definitions: readonly FunctionDefinition[];
  /** By ARN, how many calls an instance answers at once. @default 1 */
  readonly atOnce: ReadonlyMap<string, number>;
  /** Replaces unchanged functions too: they must forget what they know. */
  readonly areRestarted?: boolean;
}

export interface FunctionStatus extends CallCounts {
  readonly title: string;
  readonly arn: string;
  readonly instances: readonly { readonly pid: number }[];
}

interface Hosted {
  readonly pool: FunctionPool;
  readonly key: string;
}

export type FunctionHost = ReturnType<typeof startFunctionHost>;

export function startFunctionHost({ mode, idleMs, services, log }: FunctionHostOptions) {
  let stopped = false;
  let hosted: ReadonlyMap<string, Hosted> = new Map();
  /** Former functions with open calls. */
  const leaving = new Set<FunctionPool>();

  function open(definition: FunctionDefinition, atOnce: number): FunctionPool {
    return functionPool({
      definition,
      mode,
      environment: instanceEnvironment(definition, services),
      atOnce,
      idleMs,
      onOutput: (chunk, instance) => log.write(definition.title, instance, chunk),
    });
  }

  function callerAmong(known: ReadonlyMap<string, Hosted>, arn: string): (event: string) => Promise<FunctionResult> {
    const found = known.get(arn);
    if (!found) throw new Error(`No function ${arn}: wanted one of ${[...known.keys()].join(', ')}`);
    return (event) => (stopped ? Promise.reject(new FunctionError('The stack is stopping')) : found.pool.invoke(event));
  }

  function make({ definitions, atOnce, areRestarted = false }: WantedFunctions) {
    const wanted = new Map(
      definitions.map((definition): [string, Hosted] => {
        const calls = atOnce.get(definition.arn) ?? 1;
        const key = JSON.stringify([definition, calls]);
        const present = areRestarted ? undefined : hosted.get(definition.arn);
        return [definition.arn, present?.key === key ? present : { pool: open(definition, calls), key }];
      }),
    );
    const added = [...wanted].filter(([arn, one]) => hosted.get(arn) !== one).map(([, { pool }]) => pool);
    for (const pool of added) pool.warm();
    return {
      invoke: async (arn: string, event: string) => wholeText(await callerAmong(wanted, arn)(event)),
      /** New or changed ones. */
      changed: added.map(({ definition }) => definition),
      /** Directs every call to them; the former ones end after their open calls. */
      takeOver() {
        const gone = [...hosted].filter(([arn, one]) => wanted.get(arn) !== one).map(([, { pool }]) => pool);
        hosted = wanted;
        for (const pool of gone) {
          leaving.add(pool);
          pool.retire(() => leaving.delete(pool));
        }
      },
      /** Ends them; the former ones stay. */
      drop: async () => void (await Promise.all(added.map((pool) => pool.kill()))),
    };
  }

  const pools = (): readonly FunctionPool[] => [...hosted.values()].map(({ pool }) => pool);

  return {
    mode,
    /** Makes functions ready to take over. Unchanged ones keep running. */
    make,
    /** Looks a function up once, for many calls. */
    caller: (arn: string) => callerAmong(hosted, arn),
    /** Calls a function by ARN with JSON text; see `FunctionPool.invoke`. */
    invoke: async (arn: string, event: string) => wholeText(await callerAmong(hosted, arn)(event)),
    /** Ends all instances of a function by title. Throws for an unknown title. */
    async kill(title: string) {
      const pool = pools().find(({ definition }) => definition.title === title);
      if (!pool)
        throw new Error(
          `${title}: wanted one of the functions ${pools()
            .map(({ definition }) => definition.title)
            .join(', ')}`,
        );
      await pool.kill();
    },
    status: () =>
      pools().map((pool) => ({
        title: pool.definition.title,
        arn: pool.definition.arn,
        instances: pool.pids().map((pid) => ({ pid })),
        ...pool.counts(),
      })),
    modules: () => [...pools(), ...leaving].map(({ definition }) => definition.module),
    async stop() {
      stopped = true;
      await Promise.all([...pools(), ...leaving].map((pool) => pool.kill()));
    },
  };
}
