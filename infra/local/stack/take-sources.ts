import type { DatastoreDefinition, Definitions } from '../../../shared/definitions/definitions.ts';
import type { RdsData } from '../emulators/rds-data.ts';
import type { SecretsManager } from '../emulators/secrets-manager.ts';
import type { Rights } from '../iam/rights.ts';
import type { ShardGroup, ShardGroups } from '../mysql/shard-groups.ts';
import { WorkInTurn } from '../mysql/work-in-turn.ts';
import { localResources } from '../template/resources/local-resources.ts';
import type { World } from '../template/resources/resource-kind.ts';
import { checkLogins, proxiesIn } from '../template/resources/proxy.ts';
import type { RunningTemplate } from '../template/run-template.ts';
import type { Synthesis } from '../template/synthesize.ts';
import { tableNames } from '../template/resources/table.ts';
import { createdDatastores } from '../running/created-datastores.ts';
import { definitionChanges } from './definition-changes.ts';
import type { AddedGroup, TakenOver } from '../running/running-stack.ts';
import type { StackSources } from './stack-sources.ts';
import { checkGroups, groupsOf, startAddedGroups } from './start-groups.ts';

interface TakeSourcesOptions {
  readonly sources: StackSources;
  readonly running: RunningTemplate;
  readonly groups: ShardGroups;
  readonly world: World;
  readonly secretsManager: Pick<SecretsManager, 'setSecrets'>;
  readonly rdsData: Pick<RdsData, 'setGroups'>;
  readonly dynamodbUrl: string;
  readonly rightsNow: () => Rights;
  readonly onRefused: (why: string) => void;
}

interface MadeSources extends Synthesis {
  readonly definitions: Definitions;
}

export function takeSources({
  sources,
  running,
  groups,
  world,
  secretsManager,
  rdsData,
  dynamodbUrl,
  rightsNow,
  onRefused,
}: TakeSourcesOptions) {
  let datastores: readonly DatastoreDefinition[] = [];
  let read: ReadonlySet<string> = new Set();
  const turns = new WorkInTurn();
  let taken = 0;

  async function take({ stacks, definitions, read: files }: MadeSources): Promise<TakenOver> {
    checkGroups(stacks, groups);
    const local = localResources(stacks, world);
    secretsManager.setSecrets(local.secrets);
    rdsData.setGroups(groups.groups);
    checkLogins(groups, proxiesIn(local.resources, local.context), rightsNow, onRefused);
    const created = await createdDatastores(tableNames(local.resources, local.context), dynamodbUrl);
    sources.checkShards(definitions, new Map(created.map(({ name, shards }) => [name, shards])));
    const count = groupsOf(stacks).length;
    // Functions cache the groups for a minute, a drain's run for its whole time.
    const functions = await running.take(local, taken > 0 && count > taken);
    taken = count;
    const changes = definitionChanges(datastores, definitions.datastores);
    datastores = definitions.datastores;
    read = new Set(files);
    return { definitions: changes, functions };
  }

  async function make(): Promise<MadeSources> {
    const { definitions } = sources.read();
    return { definitions, ...(await sources.synthesize(running.functions.modules())) };
  }

  async function addGroup(): Promise<AddedGroup> {
    const [before, wanted] = [sources.groups, taken + 1];
    let made: MadeSources;
    try {
      sources.groups = wanted;
      made = await make();
      await startAddedGroups(made.stacks, groups, wanted);
    } catch (error) {
      sources.groups = before;
      throw error;
    }
    // The servers now belong to the stack: a later take continues what fails here.
    await take(made);
    const { name, nodes } = groups.groups.at(-1) as ShardGroup;
    return { name, readers: nodes.length - 1, groups: wanted };
  }

  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    turns.now(() => {
      if (turns.hasEnded) throw new Error('The stack is stopping');
      return work();
    });

  return {
    take,
    takeOver: () => inTurn(async () => take(await make())),
    addGroup: () => inTurn(addGroup),
    get sources() {
      return { datastores: sources.datastores, read };
    },
    get datastores() {
      return datastores;
    },
    /** Stops taking changes; resolves after the current one. */
    async close() {
      turns.end();
      await turns.settled();
    },
  };
}
