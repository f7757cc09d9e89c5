import type { DatastoreDefinition, Definitions } from '../../../shared/definitions/definitions.ts';
import type { SecretsManager } from '../emulators/secrets-manager.ts';
import type { ShardGroups } from '../mysql/shard-groups.ts';
import { localResources } from '../template/resources/local-resources.ts';
import type { World } from '../template/resources/resource-kind.ts';
import type { RunningTemplate } from '../template/run-template.ts';
import type { Synthesis } from '../template/synthesize.ts';
import { tableNames } from '../template/resources/table.ts';
import { createdDatastores } from './created-datastores.ts';
import { definitionChanges } from './definition-changes.ts';
import type { ReadSources, TakenOver } from './running-stack.ts';
import type { StackSources } from './stack-sources.ts';
import { checkGroups } from './start-groups.ts';

export interface TakeSourcesOptions {
  readonly sources: StackSources;
  readonly running: RunningTemplate;
  readonly groups: ShardGroups;
  readonly world: World;
  readonly secretsManager: Pick<SecretsManager, 'setSecrets'>;
  readonly dynamodbUrl: string;
}

/** What was synthesized, and the definitions that it was synthesized from. */
export interface MadeSources extends Synthesis {
  readonly definitions: Definitions;
}

/** Has a stack run what its sources say: at its start, and when they have changed. */
export interface SourceTaking {
  /** Has the running template take what was synthesized. */
  take(made: MadeSources): Promise<TakenOver>;
  /** Reads, synthesizes and takes; see `LocalStack.takeOver`. */
  takeOver(): Promise<TakenOver>;
  /** Those that were taken last. */
  readonly sources: ReadSources;
  readonly datastores: readonly DatastoreDefinition[];
  /** Takes nothing more; resolves when nothing is being taken. */
  close(): Promise<void>;
}

export function takeSources({
  sources,
  running,
  groups,
  world,
  secretsManager,
  dynamodbUrl,
}: TakeSourcesOptions): SourceTaking {
  let datastores: readonly DatastoreDefinition[] = [];
  let read: ReadonlySet<string> = new Set();
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  async function take({ stacks, definitions, read: files }: MadeSources): Promise<TakenOver> {
    checkGroups(stacks, groups);
    const local = localResources(stacks, world);
    secretsManager.setSecrets(local.secrets);
    sources.checkShards(definitions, await createdDatastores(tableNames(local.resources, local.context), dynamodbUrl));
    const functions = await running.take(local);
    const changes = definitionChanges(datastores, definitions.datastores);
    datastores = definitions.datastores;
    read = new Set(files);
    return { definitions: changes, functions };
  }

  async function takeOver(): Promise<TakenOver> {
    if (isClosed) throw new Error('The stack is stopping');
    const { definitions } = sources.read();
    return take({ definitions, ...(await sources.synthesize(running.functions.modules())) });
  }

  return {
    take,
    takeOver() {
      const mine = last.then(takeOver);
      last = mine.catch(() => undefined);
      return mine;
    },
    get sources() {
      return { datastores: sources.datastores, read };
    },
    get datastores() {
      return datastores;
    },
    async close() {
      isClosed = true;
      await last;
    },
  };
}
