import { instanceEnvironment, type FunctionDefinition, type FunctionMode } from './function-definition.ts';
import type { FunctionLog } from './function-log.ts';
import { wholeText, type FunctionResult } from './function-result.ts';
import { FunctionError, functionPool, type CallCounts, type FunctionPool } from './function-pool.ts';

interface FunctionHostOptions {
  readonly mode: FunctionMode;
  readonly sharedInstances: number;
  readonly idleMs: number;
  /** Environment variables that say where the services of AWS are. */
  readonly services: Readonly<Record<string, string>>;
  readonly log: FunctionLog;
}

export interface WantedFunctions {
  readonly definitions: readonly FunctionDefinition[];
  /** ARNs of the functions whose instances answer many calls at once, in as many instances as `sharedInstances`. */
  readonly shared: ReadonlySet<string>;
  /** None of those that are there stays: what they remember is not to be gone by any more. @default false */
  readonly areAnew?: boolean;
}

/** Functions that can be called, and do not yet answer in place of those before them. */
interface ReadyFunctions {
  invoke(arn: string, event: string): Promise<string>;
  /** Those that are new or not as they were; none of those that stay. */
  readonly changed: readonly FunctionDefinition[];
  /** Has them answer every call from now on, and lets go those before them once their calls are answered. */
  takeOver(): void;
  /** Ends them: those before them stay. */
  drop(): Promise<void>;
}

/** Runs the functions of the template. */
export interface FunctionHost {
  readonly mode: FunctionMode;
  /** Makes functions ready to take over. Those whose bundle and settings are as they were stay as they are. */
  make(wanted: WantedFunctions): ReadyFunctions;
  /** Calls a function by ARN; takes and returns JSON text. See `FunctionPool.invoke`. */
  invoke(arn: string, event: string): Promise<string>;
  /** The function to call again and again, until others take over: the look-up is done once. */
  caller(arn: string): (event: string) => Promise<FunctionResult>;
  /** Ends all instances of a function, given by its title, at once. Throws for a title that is not known. */
  kill(title: string): Promise<void>;
  status(): readonly FunctionStatus[];
  /** Paths of the bundles that instances run from, or may yet. */
  modules(): readonly string[];
  stop(): Promise<void>;
}

/** Its counts begin anew when another version of it takes over. */
export interface FunctionStatus extends CallCounts {
  readonly title: string;
  readonly arn: string;
  readonly instances: readonly { readonly pid: number }[];
}

interface Hosted {
  readonly pool: FunctionPool;
  /** Equal for functions that need not be told apart. */
  readonly key: string;
}

export function startFunctionHost({ mode, sharedInstances, idleMs, services, log }: FunctionHostOptions): FunctionHost {
  let stopped = false;
  let hosted: ReadonlyMap<string, Hosted> = new Map();
  /** Those that answer what they were asked before others took over. */
  const leaving = new Set<FunctionPool>();

  function open(definition: FunctionDefinition, isShared: boolean): FunctionPool {
    return functionPool({
      definition,
      mode,
      environment: instanceEnvironment(definition, services),
      shared: isShared ? sharedInstances : undefined,
      idleMs,
      onOutput: (chunk, instance) => log.write(definition.title, instance, chunk),
    });
  }

  function callerAmong(known: ReadonlyMap<string, Hosted>, arn: string): (event: string) => Promise<FunctionResult> {
    const found = known.get(arn);
    if (!found) throw new Error(`No function ${arn}: wanted one of ${[...known.keys()].join(', ')}`);
    return (event) => (stopped ? Promise.reject(new FunctionError('The stack is stopping')) : found.pool.invoke(event));
  }

  function make({ definitions, shared, areAnew = false }: WantedFunctions): ReadyFunctions {
    const wanted = new Map(
      definitions.map((definition): [string, Hosted] => {
        const key = JSON.stringify([definition, shared.has(definition.arn)]);
        const present = areAnew ? undefined : hosted.get(definition.arn);
        return [
          definition.arn,
          present?.key === key ? present : { pool: open(definition, shared.has(definition.arn)), key },
        ];
      }),
    );
    const added = [...wanted].filter(([arn, one]) => hosted.get(arn) !== one).map(([, { pool }]) => pool);
    for (const pool of added) pool.warm();
    return {
      invoke: async (arn, event) => wholeText(await callerAmong(wanted, arn)(event)),
      changed: added.map(({ definition }) => definition),
      takeOver() {
        const gone = [...hosted].filter(([arn, one]) => wanted.get(arn) !== one).map(([, { pool }]) => pool);
        hosted = wanted;
        for (const pool of gone) {
          leaving.add(pool);
          pool.retire(() => leaving.delete(pool));
        }
      },
      drop: async () => void (await Promise.all(added.map((pool) => pool.kill()))),
    };
  }

  const pools = (): readonly FunctionPool[] => [...hosted.values()].map(({ pool }) => pool);

  return {
    mode,
    make,
    caller: (arn) => callerAmong(hosted, arn),
    invoke: async (arn, event) => wholeText(await callerAmong(hosted, arn)(event)),
    async kill(title) {
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
