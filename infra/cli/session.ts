import { schemalessClient, type SchemalessClient } from '../../shared/client/client.ts';
import { definitionsClient } from '../../shared/client/definitions-client.ts';
import { erasuresClient } from '../../shared/client/erasures-client.ts';
import { subjectsClient } from '../../shared/client/subjects-client.ts';
import { movesClient } from '../../shared/client/moves-client.ts';
import type { ClientOptions } from '../../shared/client/options.ts';
import type { DefinitionOperations } from '../../shared/contract/definition-operations.ts';
import type { ErasureOperations } from '../../shared/contract/erasure-operations.ts';
import type { MoveOperations } from '../../shared/contract/move-operations.ts';
import type { SubjectOperations } from '../../shared/contract/subject-operations.ts';
import { formatFor, surfaceOf, type Format } from './output/format.ts';
import { openOutput, type Output } from './output/output.ts';
import { writeTo } from './output/write-out.ts';
import { onlyDatastore } from './target/choose-datastore.ts';
import { chooseTarget, type Surroundings, type Target, type TargetFlags } from './target/choose-target.ts';
import { USUAL_URL } from './target/find-local-stack.ts';
import { signerOf } from './target/signer.ts';

export interface GlobalFlags extends TargetFlags {
  readonly format?: Format | undefined;
  /** Seconds. */
  readonly timeout?: number;
}

export type Connecting = Pick<ClientOptions, 'signal' | 'attempts' | 'joinReads' | 'retryBudget'>;

export interface Session {
  readonly output: Output;
  readonly at: Surroundings;
  /** Which API, once somebody asks. Throws a CommandError. */
  target(): Promise<Target>;
  /** The datastore that is meant, over HTTP. Throws a CommandError where it is not clear which. */
  connect(more?: Connecting): Promise<SchemalessClient>;
  /** The moves of the shards of the datastore that is meant. Throws a CommandError where it is not clear which. */
  moves(more?: Connecting): Promise<MoveOperations>;
  /** What was erased from the datastore that is meant, and how long its cells are kept. Throws a CommandError where it is not clear which. */
  erasures(more?: Connecting): Promise<ErasureOperations>;
  /** Whom the datastore that is meant has forgotten. Throws a CommandError where it is not clear which. */
  subjects(more?: Connecting): Promise<SubjectOperations>;
  /** What is made and deleted beside any datastore. Throws a CommandError. */
  definitions(): Promise<DefinitionOperations>;
  note(line: string): void;
}

export function openSession(flags: GlobalFlags): Session {
  const at = { environment: process.env, folder: process.cwd(), usualUrl: USUAL_URL };
  const surface = surfaceOf(process.stdout, process.env);
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
    at,
    target: choose,
    connect: async (more) => schemalessClient(await optionsOfDatastore(more)),
    moves: async (more) => movesClient(await optionsOfDatastore(more)),
    erasures: async (more) => erasuresClient(await optionsOfDatastore(more)),
    subjects: async (more) => subjectsClient(await optionsOfDatastore(more)),
    definitions: async () => definitionsClient(await optionsOf()),
    note: (line) => void process.stderr.write(`${line}\n`),
  };
}
