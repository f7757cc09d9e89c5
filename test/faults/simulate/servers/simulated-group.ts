import type { Random } from '../../../support/random.ts';
import type { VirtualTime } from '../world/virtual-time.ts';
import { applyChange, emptyTables, type KeptCell, type TableChange, type Tables } from './tables.ts';

export interface SimulatedNode {
  tables: Tables;
  /** New to its group whenever the server is rebuilt or becomes the writer. */
  serverId: number;
  /** How far its clock is ahead. */
  aheadMs: number;
  /** The number of changes of the group's history that it has applied. */
  position: number;
  state: 'up' | 'down' | 'paused';
  /** Rises with each start: calls from before it are gone. */
  life: number;
  /** Statements that reached it while it was paused. */
  waiting: (() => void)[];
  /** Has cells that its group lacks: it must be rebuilt before it starts. */
  isLeftBehind: boolean;
  /** It receives nothing from the writer before this time. */
  lagsUntil: number;
  /** Cells committed here but not in every snapshot yet, with the time from which they are. */
  readonly hidden: Map<KeptCell, number>;
}

/** Observes all changes, done and undone, on a group's servers. */
export interface Witness {
  changed(group: string, change: TableChange): void;
  lost(group: string, changes: readonly TableChange[]): void;
}

export interface SimulatedGroup {
  readonly name: string;
  readonly nodes: readonly SimulatedNode[];
  /** The number of the node that takes writes, now or once it is back. */
  readonly writer: number;
  /** The id of the node that takes writes. */
  readonly writerId: number;
  /** Makes changes on the writer; the readers follow, change by change. */
  commit(changes: readonly TableChange[]): void;
  /** The same for a transaction: a reader has all of it or nothing. */
  commitGroup(changes: readonly TableChange[]): void;
  /** Ends a node's process; what is on its disk stays. */
  crash(node: number): void;
  restart(node: number): void;
  pause(node: number): void;
  resume(node: number): void;
  lag(node: number, milliseconds: number): void;
  /** Delays changes until `flow`, while reads are answered. */
  stall(): void;
  flow(): void;
  /** The delayed changes. @default it is not stalled */
  readonly stalled: (() => void)[] | undefined;
  /** Makes a reader the writer. Changes that it lacks are gone; servers that have more are rebuilt from it. */
  promote(node: number): void;
  /** Returns whether every server has all changes. */
  isCaughtUp(): boolean;
  /** Makes changes on every node at once, like an operator who waits for all of them. Only while all are caught up. */
  commitEverywhere(changes: readonly TableChange[]): void;
}

interface GroupOptions {
  readonly name: string;
  readonly readers: number;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly witness: Witness;
}

/** The replication delay of a change. */
const LAG_MS = [1, 25] as const;
/** The time to rebuild a server. */
const REBUILD_MS = 1500;
/** How often a reader checks whether its writer is back. */
const RETRY_MS = 200;

/** A group of servers in memory: a writer, and readers that repeat its changes, each at its own pace. */
export function simulatedGroup({ name, readers, time, random, witness }: GroupOptions): SimulatedGroup {
  /** Each of them is applied as a whole. */
  const history: (readonly TableChange[])[] = [];
  let servers = 0;
  const newServerId = (): number => (servers += 1);
  const nodes = Array.from({ length: readers + 1 }, (): SimulatedNode => ({
    tables: emptyTables(),
    serverId: newServerId(),
    aheadMs: 0,
    position: 0,
    state: 'up',
    life: 1,
    waiting: [],
    isLeftBehind: false,
    lagsUntil: 0,
    hidden: new Map(),
  }));
  const pumping = new Set<SimulatedNode>();
  let writer = 0;
  let stalled: (() => void)[] | undefined;

  const nodeAt = (number: number): SimulatedNode => {
    const node = nodes[number];
    if (!node) throw new Error(`${name} has no node ${number}`);
    return node;
  };

  function goThrough(node: SimulatedNode, changes: readonly TableChange[]): void {
    for (const change of changes) applyChange(node.tables, change);
    node.position += 1;
  }

  function commitAll(transactions: readonly (readonly TableChange[])[]): void {
    for (const changes of transactions) {
      history.push(changes);
      goThrough(nodeAt(writer), changes);
      for (const change of changes) witness.changed(name, change);
    }
    for (const node of nodes) pump(node);
  }

  /** Makes a reader follow, change by change, as long as it is behind. */
  function pump(node: SimulatedNode): void {
    if (pumping.has(node) || node.position >= history.length || node === nodes[writer]) return;
    pumping.add(node);
    const { life } = node;
    const canFollow = (): boolean => node.state === 'up' && node.life === life && nodes[writer]?.state === 'up';
    const wait =
      node.lagsUntil > time.now() ? node.lagsUntil - time.now() : canFollow() ? random.between(...LAG_MS) : RETRY_MS;
    time.after(wait, () => {
      pumping.delete(node);
      if (canFollow() && node.lagsUntil <= time.now()) {
        // A few at a time, so that readers stop at odd places.
        for (const changes of history.slice(node.position, node.position + random.integer(1, 4)))
          goThrough(node, changes);
      }
      pump(node);
    });
  }

  function takeDown(node: SimulatedNode): void {
    node.state = 'down';
    node.life += 1;
    node.waiting = [];
  }

  function rebuild(node: SimulatedNode): void {
    takeDown(node);
    node.isLeftBehind = true;
    const { life } = node;
    time.after(REBUILD_MS, () => {
      if (node.life !== life) return;
      node.isLeftBehind = false;
      node.serverId = newServerId();
      node.tables = emptyTables();
      node.position = 0;
      node.hidden.clear();
      for (const changes of history) goThrough(node, changes);
      node.state = 'up';
    });
  }

  function begin(node: SimulatedNode): void {
    node.state = 'up';
    for (const statement of node.waiting.splice(0)) statement();
    for (const reader of nodes) pump(reader);
  }

  return {
    name,
    nodes,
    get writer() {
      return writer;
    },
    get writerId() {
      return nodeAt(writer).serverId;
    },
    commit: (changes) => commitAll(changes.map((change) => [change])),
    commitGroup: (changes) => commitAll([changes]),
    crash(number) {
      const node = nodeAt(number);
      if (!node.isLeftBehind) takeDown(node);
    },
    restart(number) {
      const node = nodeAt(number);
      if (node.state === 'down' && !node.isLeftBehind) begin(node);
    },
    pause(number) {
      const node = nodeAt(number);
      if (node.state === 'up') node.state = 'paused';
    },
    resume(number) {
      const node = nodeAt(number);
      if (node.state === 'paused') begin(node);
    },
    get stalled() {
      return stalled;
    },
    stall: () => void (stalled ??= []),
    flow() {
      const waiting = stalled ?? [];
      stalled = undefined;
      for (const statement of waiting) statement();
    },
    lag(number, milliseconds) {
      nodeAt(number).lagsUntil = time.now() + milliseconds;
    },
    promote(number) {
      const chosen = nodeAt(number);
      const lost = history.splice(chosen.position).flat();
      const former = nodeAt(writer);
      writer = number;
      chosen.state = 'up';
      chosen.serverId = newServerId();
      chosen.lagsUntil = 0;
      if (lost.length > 0) witness.lost(name, lost);
      for (const node of nodes)
        if (node !== chosen && (node === former || node.position > history.length)) rebuild(node);
      begin(chosen);
    },
    isCaughtUp: () => nodes.every((node) => node.state === 'up' && node.position === history.length),
    commitEverywhere(changes) {
      for (const change of changes) {
        history.push([change]);
        for (const node of nodes) goThrough(node, [change]);
        witness.changed(name, change);
      }
    },
  };
}
