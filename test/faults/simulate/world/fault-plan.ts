import type { Random } from '../../../demo/trips/random.ts';
import type { MemoryTopology } from '../servers/memory-topology.ts';
import { CALM, type Weather } from '../servers/network.ts';
import type { SimulatedGroup } from '../servers/simulated-group.ts';
import type { Chronicle } from './chronicle.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface FaultyWorld {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly weather: Weather;
  readonly groups: ReadonlyMap<string, SimulatedGroup>;
  readonly topology: MemoryTopology;
  readonly chronicle: Chronicle;
  readonly shards: number;
}

type Fault = (world: FaultyWorld, group: SimulatedGroup, unlucky: SimulatedGroup) => void;

/** How long a fault lasts: often shorter than the store's time limits, at times longer. */
const LEAST_MS = 100;
const MOST_MS = 7000;
const MOST_FAULTS = 8;

/**
 * Chooses a seed's faults, and lets them come during the first `milliseconds`.
 *
 * Only one group, the unlucky one, ever loses what its readers had not received yet: two groups that lose their disks at
 * the same time are beyond what is promised.
 */
export function planFaults(world: FaultyWorld, milliseconds: number): void {
  const { random, time, weather } = world;
  const all = [...world.groups.values()] as [SimulatedGroup, ...SimulatedGroup[]];
  const unlucky = random.pick(all);
  const share = (most: number): number => (random.chance(0.5) ? 0 : random.between(0, most));
  Object.assign(weather, { lostRequests: share(0.03), lostAnswers: share(0.08), late: share(0.06), twice: share(0.05), contention: share(0.06), hidden: random.chance(0.5) ? 0.5 : 0 });
  for (let count = random.integer(0, MOST_FAULTS); count > 0; count -= 1) {
    const fault = random.pick(FAULTS);
    const group = random.pick(all);
    time.after(random.between(0, milliseconds), () => fault(world, group, unlucky));
  }
  if (random.chance(0.6)) {
    for (let count = random.integer(1, 2); count > 0; count -= 1) time.after(random.between(500, milliseconds), () => loseLast(world, unlucky));
  }
}

/** Ends every fault that lasts. */
export function heal({ weather, groups, topology }: Pick<FaultyWorld, 'weather' | 'groups' | 'topology'>): void {
  Object.assign(weather, CALM);
  weather.away.clear();
  topology.isAway = false;
  for (const group of groups.values()) {
    for (const number of group.nodes.keys()) {
      group.lag(number, 0);
      group.resume(number);
      group.restart(number);
    }
  }
}

const lasting = ({ random, time }: FaultyWorld, end: () => void): void => time.after(random.between(LEAST_MS, MOST_MS), end);
const someNode = ({ random }: FaultyWorld, { nodes }: SimulatedGroup): number => random.integer(0, nodes.length - 1);

const crashNode: Fault = (world, group) => {
  const node = someNode(world, group);
  group.crash(node);
  lasting(world, () => group.restart(node));
};

const crashWriter: Fault = (world, group) => {
  const node = group.writer;
  group.crash(node);
  lasting(world, () => group.restart(node));
};

const pauseNode: Fault = (world, group) => {
  const node = someNode(world, group);
  group.pause(node);
  lasting(world, () => group.resume(node));
};

const lagNode: Fault = (world, group) => group.lag(someNode(world, group), world.random.between(LEAST_MS, MOST_MS));

const cutOff: Fault = (world, group) => {
  world.weather.away.add(group.name);
  lasting(world, () => void world.weather.away.delete(group.name));
};

const topologyAway: Fault = (world) => {
  world.topology.isAway = true;
  lasting(world, () => void (world.topology.isAway = false));
};

/** A reader that has everything takes over. */
const failOver: Fault = (_world, group) => {
  const next = group.nodes.findIndex((_, number) => number !== group.writer);
  if (group.isCaughtUp()) group.promote(next);
};

/**
 * An operator moves a shard with cells to another group, as carefully as can be: the topology last.
 *
 * Never to the unlucky group: a write that is sent on to where its shard has moved may have its only copy there, since
 * secondaries are chosen by where the shard was.
 */
const moveShard: Fault = (world, from, unlucky) => {
  const { random, groups, topology, chronicle, time } = world;
  const shard = Array.from({ length: world.shards }, (_, shard) => shard).find((shard) => topology.place(shard).group === from.name);
  const to = [...groups.values()].find((group) => group !== from && group !== unlucky);
  const tables = from.nodes[from.writer]?.tables;
  const row = shard === undefined ? undefined : tables?.shards.get(shard);
  const cells = shard === undefined ? [] : (tables?.logs.get(shard)?.cells ?? []);
  if (shard === undefined || !to || !row || cells.length === 0 || to.nodes[0]?.tables.logs.has(shard) || topology.isAway || !from.isCaughtUp() || !to.isCaughtUp()) return;
  const epoch = Math.max(row.epoch, topology.place(shard).epoch) + 1;
  from.commitEverywhere([{ kind: 'shard', shard, row: { epoch, state: 'closed' } }]);
  to.commitEverywhere([{ kind: 'shard', shard, row: { epoch, state: 'open' } }, { kind: 'appended', shard, cells }]);
  chronicle.moves.set(shard, time.now());
  // Instances go on with what they know for a while.
  if (random.chance(0.5)) topology.move(shard, { group: to.name, epoch });
  else time.after(random.between(0, 1000), () => topology.move(shard, { group: to.name, epoch }));
};

const FAULTS: readonly [Fault, ...Fault[]] = [crashNode, crashWriter, crashWriter, pauseNode, pauseNode, lagNode, lagNode, cutOff, topologyAway, failOver, moveShard];

/** A reader falls behind, the writer dies with its disk, and the reader is promoted. */
function loseLast({ random, time }: FaultyWorld, group: SimulatedGroup): void {
  const reader = random.pick(group.nodes.flatMap((_, number) => (number === group.writer ? [] : [number])) as [number, ...number[]]);
  const behindMs = random.between(50, 4000);
  group.lag(reader, behindMs + 2000);
  time.after(behindMs, () => {
    if (group.writer === reader) return;
    group.crash(group.writer);
    time.after(random.between(10, 1500), () => {
      const { isLeftBehind = true } = group.nodes[reader] ?? {};
      if (group.writer !== reader && !isLeftBehind) group.promote(reader);
    });
  });
}
