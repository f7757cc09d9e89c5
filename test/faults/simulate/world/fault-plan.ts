import { CALM, type Refusal } from '../servers/network.ts';
import type { SimulatedGroup } from '../servers/simulated-group.ts';
import type { World } from './world.ts';

type Fault = (world: World, group: SimulatedGroup, unlucky: SimulatedGroup) => void;

/** How long a fault lasts: often shorter than the store's time limits, at times longer. */
const LASTING_MS = [100, 7000] as const;
const MOST_FAULTS = 8;
const HOUR_MS = 3_600_000;

/**
 * Chooses a seed's faults, and starts them during the first `milliseconds`.
 *
 * Only one group, the unlucky one, ever loses cells that its readers had not received: the promises do not cover two
 * groups that lose their disks at the same time.
 */
export function planFaults(world: World, milliseconds: number): readonly Loss[] {
  const { random, time, weather } = world;
  const all = [...world.groups.values()] as [SimulatedGroup, ...SimulatedGroup[]];
  const unlucky = random.pick(all);
  const share = (most: number): number => (random.chance(0.5) ? 0 : random.between(0, most));
  Object.assign(weather, {
    lostRequests: share(0.03),
    lostAnswers: share(0.08),
    late: share(0.06),
    twice: share(0.05),
    contention: share(0.06),
    hidden: random.chance(0.5) ? 0.5 : 0,
  });
  for (let count = random.integer(0, MOST_FAULTS); count > 0; count -= 1) {
    const fault = random.pick(FAULTS);
    const group = random.pick(all);
    time.after(random.between(0, milliseconds), () => fault(world, group, unlucky));
  }
  const losses = Array.from({ length: random.chance(0.6) ? random.integer(1, 2) : 0 }, (): Loss => ({
    group: unlucky.name,
    at: random.between(500, milliseconds),
    behindMs: random.between(50, 4000),
  }));
  for (const loss of losses) time.after(loss.at, () => loseLast(world, unlucky, loss));
  return losses;
}

/** A promotion without the last cells. */
interface Loss {
  readonly group: string;
  /** The time from which the reader to be promoted receives nothing. */
  readonly at: number;
  /** How long it receives nothing, until the writer dies. */
  readonly behindMs: number;
}

/** Ends every lasting fault. */
export function heal({ time, weather, groups, topology, instances }: World): void {
  Object.assign(weather, CALM);
  weather.unavailable.clear();
  weather.refusals.clear();
  weather.mute.clear();
  time.wallAheadMs = 0;
  for (const instance of instances) instance.thaw();
  topology.isUnavailable = false;
  topology.isForgotten = false;
  for (const group of groups.values()) {
    for (const [number, node] of group.nodes.entries()) {
      node.aheadMs = 0;
      group.lag(number, 0);
      group.resume(number);
      group.restart(number);
    }
  }
}

const lasting = ({ random, time }: World, end: () => void): void => time.after(random.between(...LASTING_MS), end);
const someNode = ({ random }: World, { nodes }: SimulatedGroup): number => random.integer(0, nodes.length - 1);

const crash = (world: World, group: SimulatedGroup, node: number): void => {
  group.crash(node);
  lasting(world, () => group.restart(node));
};
const crashNode: Fault = (world, group) => crash(world, group, someNode(world, group));
const crashWriter: Fault = (world, group) => crash(world, group, group.writer);

const pauseNode: Fault = (world, group) => {
  const node = someNode(world, group);
  group.pause(node);
  lasting(world, () => group.resume(node));
};

const lagNode: Fault = (world, group) => group.lag(someNode(world, group), world.random.between(...LASTING_MS));

const cutOff: Fault = (world, group) => {
  world.weather.unavailable.add(group.name);
  lasting(world, () => void world.weather.unavailable.delete(group.name));
};

const topologyUnavailable: Fault = (world) => {
  world.topology.isUnavailable = true;
  lasting(world, () => void (world.topology.isUnavailable = false));
};

/** The drain reads a topology without the datastore: it is being restored, or was read half. */
const topologyForgets: Fault = (world) => {
  world.topology.isForgotten = true;
  lasting(world, () => void (world.topology.isForgotten = false));
};

/** Its disk is full, its rights are revoked, or one of its tables is gone. */
const refuse: Fault = (world, group) => {
  const { random, weather } = world;
  const shard = random.pick(world.topology.shardsOf(group.name) as [number, ...number[]]);
  const kinds: readonly [Refusal['isOf'], ...Refusal['isOf'][]] = [
    ({ kind }) => kind === 'append',
    ({ kind }) => kind === 'append',
    ({ kind }) => kind === 'buffer',
    ({ shards }) => shards.includes(shard),
  ];
  const refusal: Refusal = {
    group: group.name,
    errno: random.pick([1114, 1142, 1146]),
    isOnAllNodes: random.chance(0.3),
    isOf: random.pick(kinds),
  };
  weather.refusals.add(refusal);
  lasting(world, () => void weather.refusals.delete(refusal));
};

/** A server's clock is wrong for a moment, or until the end. */
const serverClock: Fault = (world, group) => {
  const node = group.nodes[someNode(world, group)];
  if (!node) return;
  node.aheadMs = wrongBy(world);
  lasting(world, () => void (node.aheadMs = 0));
};

/** The clock of the machines that functions run on. */
const wallClock: Fault = (world) => {
  world.time.wallAheadMs = wrongBy(world);
  lasting(world, () => void (world.time.wallAheadMs = 0));
};

const wrongBy = ({ random }: World): number =>
  random.pick([1, -1]) * random.pick([HOUR_MS, HOUR_MS, random.between(1000, 20_000)]);

/** A reader with all changes takes over. */
const failOver: Fault = (_world, group) => {
  const next = group.nodes.findIndex((_, number) => number !== group.writer);
  if (group.isCaughtUp()) group.promote(next);
};

/**
 * Moves a shard with cells to another group like a careful operator. Changes the topology last, and not while its
 * writer may lack cells that no process would look up at the other group.
 *
 * Never to the unlucky group: a write forwarded after a move may have its only copy there, since secondaries depend on
 * the former group of the shard.
 */
const moveShard: Fault = (world, from, unlucky) => {
  const { random, groups, topology, chronicle, time } = world;
  const [shard] = topology.shardsOf(from.name);
  const to = [...groups.values()].find((group) => group !== from && group !== unlucky);
  const tables = from.nodes[from.writer]?.tables;
  const row = shard === undefined ? undefined : tables?.shards.get(shard);
  const cells = shard === undefined ? [] : (tables?.logs.get(shard)?.cells ?? []);
  if (
    shard === undefined ||
    !to ||
    !row ||
    cells.length === 0 ||
    to.nodes[0]?.tables.logs.has(shard) ||
    row.writerId !== from.writerId ||
    topology.isUnavailable ||
    !from.isCaughtUp() ||
    !to.isCaughtUp()
  )
    return;
  const epoch = Math.max(row.epoch, topology.home(shard).epoch) + 1;
  from.commitEverywhere([{ kind: 'shard', shard, row: { ...row, epoch, state: 'closed' } }]);
  to.commitEverywhere([
    { kind: 'shard', shard, row: { epoch, state: 'open', writerId: to.writerId } },
    { kind: 'appended', shard, cells },
  ]);
  chronicle.moves.set(shard, time.now());
  // Instances keep their old topology for a while.
  if (random.chance(0.5)) topology.move(shard, { group: to.name, epoch });
  else time.after(random.between(0, 1000), () => topology.move(shard, { group: to.name, epoch }));
};

/** Faults that are listed twice come twice as often. */
const FAULTS: readonly [Fault, ...Fault[]] = [
  ...([crashNode, crashWriter, crashWriter, pauseNode, pauseNode, lagNode, lagNode, cutOff] as const),
  ...([topologyUnavailable, topologyForgets, failOver, moveShard, refuse, refuse, serverClock, wallClock] as const),
];

/** Delays a reader, kills the writer with its disk, and promotes the reader. */
function loseLast(world: World, group: SimulatedGroup, { behindMs }: Loss): void {
  const { random, time } = world;
  const reader = random.pick(
    group.nodes.flatMap((_, number) => (number === group.writer ? [] : [number])) as [number, ...number[]],
  );
  group.lag(reader, behindMs + 2000);
  time.after(behindMs, () => {
    if (group.writer === reader) return;
    group.crash(group.writer);
    time.after(random.between(10, 1500), () => {
      const { isLeftBehind = true } = group.nodes[reader] ?? {};
      if (group.writer === reader || isLeftBehind) return;
      group.promote(reader);
      if (random.chance(0.3)) refuse(world, group, group);
    });
  });
}
