import type { Random } from '../../../support/random.ts';
import type { VirtualTime } from '../world/virtual-time.ts';
import { applyChange, emptyTables, type KeptCell, type TableChange, type Tables } from './tables.ts';

export interface SimulatedNode {
  tables: Tables;
  /** One that its group never had before, whenever the server is made anew or becomes the writer. */
  serverId: number;
  /** Of its clock: how far it is ahead. */
  aheadMs: number;
  /** Changes of the group's history that it has gone through. */
  position: number;
  state: 'up' | 'down' | 'paused';
  /** Goes up with each start: what was under way before it is gone. */
  life: number;
  /** Statements that reached it while it was paused. */
  waiting: (() => void)[];
  /** Has what its group has not: not to be started before it was made anew. */
  isLeftBehind: boolean;
  /** It gets nothing from the writer before this time. */
  lagsUntil: number;
  /** Cells that are committed here and not in every snapshot yet, with the time from which on they are. */
  readonly hidden: Map<KeptCell, number>;
}

/** Told of everything that is done, and undone, on a group's servers. */
export interface Witness {
  changed(group: string, change: TableChange): void;
  lost(group: string, changes: readonly TableChange[]): void;
}

export interface SimulatedGroup {
  readonly name: string;
  readonly nodes: readonly SimulatedNode[];
  /** The number of the node that takes writes, now or once it is back. */
  readonly writer: number;
  /** Of the node that takes writes. */
  readonly writerId: number;
  /** Does changes on the writer, and lets the readers follow, change by change. */
  commit(changes: readonly TableChange[]): void;
  /** The same of a transaction: a reader has all of it or nothing. */
  commitTogether(changes: readonly TableChange[]): void;
  /** Ends a node's process; what is on its disk stays. */
  crash(node: number): void;
  restart(node: number): void;
  pause(node: number): void;
  resume(node: number): void;
  lag(node: number, milliseconds: number): void;
  /** Changes wait from here on until `flow`, while reads are answered. */
  stall(): void;
  flow(): void;
  /** Changes that wait. @default it is not stalled */
  readonly stalled: (() => void)[] | undefined;
  /** Makes a reader the writer. What it lacks is gone; every server that has more is made anew from it. */
  promote(node: number): void;
  /** Everybody has everything. */
  isCaughtUp(): boolean;
  /**
   * Does changes on every node at once, as an operator does who waits for all of them. Only while all are caught up.
   */
  commitEverywhere(changes: readonly TableChange[]): void;
}

interface GroupOptions {
  readonly name: string;
  readonly readers: number;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly witness: Witness;
}

/** How long a change takes to a reader. */
const LAG_MS = [1, 25] as const;
/** How long it takes to make a server anew. */
const REBUILD_MS = 1500;
/** How often a reader looks again whether its writer is back. */
const RETRY_MS = 200;

/** A group of servers in memory: a writer, and readers that repeat what it did, each in its own time. */
export function simulatedGroup({ name, readers, time, random, witness }: GroupOptions): SimulatedGroup {
  /** Each of them is done whole. */
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

  /** Lets a reader follow, change by change, as long as it is behind. */
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
    commitTogether: (changes) => commitAll([changes]),
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
