import { createInterface } from 'node:readline/promises';
import type { Methods, Operation, Operations } from '../../shared/api/operation.ts';
import { apiClient, clientOf } from '../../shared/client/api-client.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import type { ClientOptions } from '../../shared/client/options.ts';
import { DATASTORE_NAME } from '../../shared/definitions/definitions.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { CommandError } from './errors.ts';
import { formatFor, openOutput, surfaceOf, writeTo, type Format } from './output/output.ts';
import { chooseTarget, USUAL_URL, type Target, type TargetFlags } from './target/choose-target.ts';
import { signerOf } from './target/signer.ts';

export interface GlobalFlags extends TargetFlags {
  readonly format?: Format | undefined;
  /** Seconds. */
  readonly timeout?: number;
}

export type Connecting = Pick<ClientOptions, 'signal' | 'attempts' | 'joinReads' | 'retryBudget'>;

export type Session = ReturnType<typeof openSession>;

export function openSession(flags: GlobalFlags) {
  const at = { environment: process.env, folder: process.cwd(), usualUrl: USUAL_URL };
  const surface = surfaceOf(process.stdout, process.env);
  const closed = new AbortController();
  const note = (line: string): void => void process.stderr.write(`${line}\n`);
  let target: Promise<Target> | undefined;
  const choose = (): Promise<Target> => (target ??= chooseTarget(flags, at));
  const optionsOf = async (more: Connecting = {}): Promise<Omit<ClientOptions, 'datastore'>> => {
    const chosen = await choose();
    const sign = await signerOf(chosen);
    return {
      ...more,
      url: chosen.url,
      ...(sign && { sign }),
      ...(flags.timeout !== undefined && { timeoutMs: flags.timeout * 1000 }),
    };
  };
  const optionsOfDatastore = async (more?: Connecting): Promise<ClientOptions> => {
    const options = await optionsOf(more);
    const { datastore } = await choose();
    return { ...options, datastore: datastore ?? (await onlyDatastore(options)) };
  };
  return {
    output: openOutput(formatFor(flags.format, surface), surface, writeTo(process.stdout)),
    /** Chooses the API at the first call. Throws a CommandError. */
    target: choose,
    /** Returns a client of the chosen datastore. Throws a CommandError if the choice is unclear. */
    connect: async (more?: Connecting) => schemalessClient(await optionsOfDatastore(more)),
    /** Returns all API operations of the chosen datastore. Throws a CommandError if the choice is unclear. */
    api: async (more?: Connecting) => apiClient(await optionsOfDatastore(more)),
    /** Returns the API operations of another datastore. */
    apiOf: async (datastore: string) => apiClient({ ...(await optionsOf()), datastore }),
    /** Lists the datastores of the chosen API. */
    datastores: async (more?: Connecting) => datastoresThere(await optionsOf(more)),
    /** Calls an operation with these parameters, on the chosen datastore if it needs one. */
    async call(operation: Operation, parameters: Readonly<Record<string, unknown>>): Promise<object> {
      const isOfOne = operation.path.includes('{datastore}');
      const options = isOfOne ? await optionsOfDatastore() : { ...(await optionsOf()), datastore: 'none' };
      const { call } = clientOf({ call: operation }, options) as Methods<Operations>;
      return (call as (given: object) => Promise<object>)(parameters);
    },
    note,
    /**
     * Asks at the terminal unless `yes` is set; notes `otherwise` after a no. Throws a CommandError without a terminal.
     */
    async confirmed(question: string, yes: true | undefined, otherwise: string): Promise<boolean> {
      if (yes || (await isAnsweredYes(question))) return true;
      note(otherwise);
      return false;
    },
    /** Listens for Ctrl-C until the session is closed. */
    untilInterrupted: () => untilInterrupted(closed.signal),
    close: () => closed.abort(),
  };
}

async function isAnsweredYes(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CommandError(`${question} No terminal can be asked: add --yes`, { ending: 'usage', field: '--yes' });
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  return /^y(es)?$/iu.test(answer.trim());
}

/** One Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const SAME_MS = 500;

function untilInterrupted(closed: AbortSignal): Record<'signal' | 'afterwards', AbortSignal> {
  const [first, second] = [new AbortController(), new AbortController()];
  let at = 0;
  const heard = (): void => {
    if (!first.signal.aborted) {
      at = performance.now();
      first.abort();
    } else if (performance.now() - at > SAME_MS) second.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, heard);
    closed.addEventListener('abort', () => process.off(name, heard));
  }
  return { signal: first.signal, afterwards: second.signal };
}

/** No datastore can have this name, so the error lists the datastores. */
const NONE = '-';
/** Every deployment has this datastore, for its checks. */
const SMOKE = 'smoke';

/** Returns an API's only datastore, `smoke` aside. Throws a CommandError that lists them otherwise. */
async function onlyDatastore(options: Omit<ClientOptions, 'datastore'>): Promise<string> {
  const all = await datastoresThere(options);
  const [only, ...others] = all.filter((name) => name !== SMOKE || all.length === 1);
  if (only !== undefined && others.length === 0) return only;
  throw new CommandError(
    all.length === 0
      ? `datastore: wanted one, and ${options.url} has none`
      : `datastore: wanted one of ${all.join(', ')}, got none`,
    {
      ending: 'usage',
      fix:
        all.length === 0
          ? 'Define one: a folder with a datastore.yaml'
          : 'Name it: --datastore NAME, SCHEMALESS_DATASTORE, or `datastore` of the profile',
    },
  );
}

async function datastoresThere(options: Omit<ClientOptions, 'datastore'>): Promise<readonly string[]> {
  try {
    await schemalessClient({ ...options, datastore: NONE }).heads();
    return [];
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'unknown_datastore') throw error;
    const list = /^one of (.*)$/u.exec(error.details.wanted ?? '')?.[1] ?? '';
    return list.split(', ').filter((name) => DATASTORE_NAME.test(name));
  }
}
