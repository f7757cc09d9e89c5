import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlClient } from '../../../../shared/sql/client.ts';
import { type DeploymentOptions, openContext, type StoreContext } from '../../../../shared/access/context.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import type { BufferOperations } from '../../../../shared/api/buffer.ts';
import { openDeployment } from '../../../../shared/store/deployment.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import type { TopologySource } from '../../../../shared/topology/topology.ts';
import { Random } from '../../../support/random.ts';
import { withoutAdmission } from '../../../support/without-admission.ts';
import { withoutBreakers } from '../../../support/without-breakers.ts';
import type { PlantedBug } from '../planted-bug.ts';
import { DATASTORE } from '../servers/log-statements.ts';
import { memoryTable } from '../servers/memory-table.ts';
import { memoryTopology, type MemoryTopology } from '../servers/memory-topology.ts';
import { CALM, networkClient, type Weather } from '../servers/network.ts';
import { planOf } from '../servers/plans.ts';
import { simulatedGroup, type SimulatedGroup } from '../servers/simulated-group.ts';
import { openInstance, type Instance } from './instance.ts';
import { chronicle, type Chronicle } from './chronicle.ts';
import { virtualTime, liveIn, type VirtualTime } from './virtual-time.ts';
import { wrapped } from '../../../support/wrapped-client.ts';

const SHARDS = 4;

/** The purpose of an instance of a function: each has connections and a topology of its own. */
type Part = 'writing' | 'draining' | 'reading';

/** A run of a function, with its dependencies. */
export interface StartedInstance extends Instance {
  readonly context: StoreContext;
  /** The table of leases. */
  readonly stateTable: DynamoTable;
  datastore(): Promise<Datastore & BufferOperations>;
}

/** All parts of a seed's simulation. */
export interface World {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly weather: Weather;
  readonly groups: ReadonlyMap<string, SimulatedGroup>;
  readonly topology: MemoryTopology;
  readonly chronicle: Chronicle;
  readonly shards: number;
  readonly allShards: readonly number[];
  readonly bug: PlantedBug | undefined;
  start(part: Part): StartedInstance;
  /** Every instance that was ever started. */
  readonly instances: ReadonlySet<Instance>;
  /** Ends the simulation: an error occurred outside its main work. */
  fail(error: unknown): void;
  readonly failure: Promise<never>;
}

/**
 * Makes three or four groups of two or three servers, with a datastore of a few shards. The thread lives in its time
 * from now on.
 */
export function makeWorld(seed: string, number: number, bug: PlantedBug | undefined): World {
  const random = new Random(seed, 'simulation', number);
  const time = virtualTime();
  const chance = new Random(seed, 'Math.random', number);
  liveIn(time, () => chance.next());
  const told = chronicle(time.now);
  const weather: Weather = { ...CALM, unavailable: new Set(), mute: new Set(), refusals: new Set() };
  const names = ['group-1', 'group-2', 'group-3', ...(random.chance(0.2) ? ['group-4'] : [])];
  const readers = random.integer(1, 2);
  const groups = new Map(names.map((name) => [name, simulatedGroup({ name, readers, time, random, witness: told })]));
  const writerOf = (group: string): number => groups.get(group)?.writerId ?? 0;
  const homes = Array.from({ length: SHARDS }, (_, shard) => ({ group: names[shard % names.length] ?? '', epoch: 1 }));
  for (const [shard, { group }] of homes.entries())
    groups
      .get(group)
      ?.commitEverywhere([{ kind: 'shard', shard, row: { epoch: 1, state: 'open', writerId: writerOf(group) } }]);
  const topology = memoryTopology(DATASTORE, names, homes, { sleep });
  const bufferCopies = names.length > 3 ? random.integer(1, 2) : 1;
  const network = {
    time,
    random: new Random(seed, 'network', number),
    weather,
    flaws: bug?.flaws ?? {},
    onFailure: told.failed,
  };
  const drainWrap = bug?.draining?.();

  const stateTable = memoryTable(time);
  const instances = new Set<Instance>();
  const failure = Promise.withResolvers<never>();

  const drainTopology = (instance: Instance): TopologySource => {
    const source = dynamoTopology(instance.table(topology.tableForDrains));
    return bug?.topology?.(source) ?? source;
  };
  const options = (part: Part, instance: Instance): DeploymentOptions => ({
    topology: part === 'draining' ? drainTopology(instance) : dynamoTopology(instance.table(topology.table)),
    connect({ name }) {
      const group = groups.get(name);
      if (!group) throw new Error(`no group ${name}`);
      const client: SqlClient = instance.client(networkClient(group, network));
      const wrap = { writing: bug?.writing, reading: bug?.reading, draining: drainWrap }[part];
      return wrap ? wrapped(client, (through) => wrap(through, group)) : client;
    },
    bufferCopies,
    guard: withoutBreakers,
    admit: withoutAdmission,
  });

  return {
    random,
    time,
    weather,
    groups,
    topology,
    chronicle: told,
    shards: SHARDS,
    allShards: [...homes.keys()],
    bug,
    instances,
    fail: failure.reject,
    failure: failure.promise,
    start(part) {
      const instance = openInstance(time, (statement) => told.failed(statement, planOf(statement.sql)));
      instances.add(instance);
      const deployment = options(part, instance);
      return {
        ...instance,
        get isDead() {
          return instance.isDead;
        },
        context: openContext(deployment),
        stateTable: instance.table(stateTable),
        datastore: () => openDeployment(deployment).datastore(DATASTORE),
      };
    },
  };
}
