import {
  SqlError,
  UNBOUNDED,
  type SqlChange,
  type SqlClient,
  type SqlRow,
  type Statement,
  type Target,
} from '../../../../shared/sql/client.ts';
import type { Random } from '../../../support/random.ts';
import { BEGINNING_MS, type VirtualTime } from '../world/virtual-time.ts';
import type { Execution, Plan, ServerFlaws, Written } from './plan.ts';
import { planOf } from './plans.ts';
import type { SimulatedGroup, SimulatedNode } from './simulated-group.ts';
import { applyToCopy, copyOf, type KeptCell, type TableChange } from './tables.ts';

/** The shares of statements that meet each fault in transit. Changed while the simulation runs. */
export interface Weather {
  /** Never arrive. */
  lostRequests: number;
  /** Are done, but the answer is lost: the connection breaks at once, or stays silent until the time limit. */
  lostAnswers: number;
  /** Arrive seconds later, perhaps after their sender gave up. */
  late: number;
  /** Appends and copies that are done twice. */
  twice: number;
  /** Are rolled back: deadlock, lock wait. */
  contention: number;
  /** Commits that some snapshots do not show at first. */
  hidden: number;
  /** Unreachable groups. */
  readonly unavailable: Set<string>;
  /** Groups whose answers are lost. */
  readonly mute: Set<string>;
  readonly refusals: Set<Refusal>;
}

/**
 * Statements that the servers of a group refuse for a while, each with a certain error: a full disk, missing rights or
 * a missing table.
 */
export interface Refusal {
  readonly group: string;
  readonly errno: number;
  /** Whether readers refuse them as well. */
  readonly isOnAllNodes: boolean;
  isOf(plan: Plan): boolean;
}

export const CALM = { lostRequests: 0, lostAnswers: 0, late: 0, twice: 0, contention: 0, hidden: 0 };

/** Called for a failed statement of the store, as its sender sees it. */
type OnFailure = (statement: Statement, plan: Plan) => void;

interface NetworkOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly weather: Weather;
  readonly flaws: ServerFlaws;
  readonly onFailure: OnFailure;
}

/** The time limit of the store's own client. */
const QUERY_TIMEOUT_MS = 4000;
const LATE_MS = [500, 6000] as const;
const MOST_HIDDEN_MS = 40;
const TWICE = new Set(['append', 'buffer']);
/** Concurrent transactions. */
const LANES = 2;

interface Planned {
  readonly statement: Statement;
  readonly plan: Plan;
}

interface Done {
  readonly rows: SqlRow[];
  /** The result of each statement. */
  readonly written: readonly Written[];
  readonly shown: () => void;
}

/** Returns a client of one group, as the store reaches it. */
export function networkClient(
  group: SimulatedGroup,
  { time, random, weather, flaws, onFailure }: NetworkOptions,
): SqlClient {
  const latency = (): number => random.between(0.1, 1.5);

  function nodeOf(target: Target): SimulatedNode {
    if (target === 'writer') return group.nodes[group.writer] as SimulatedNode;
    const readers = group.nodes.filter((_, number) => number !== group.writer);
    const node = target === 'reader' ? readers[random.integer(0, readers.length - 1)] : group.nodes[target.node];
    if (!node) throw new SqlError('unreachable', `${group.name} has no such node`);
    return node;
  }

  /** Throws if a statement cannot run on a server now. */
  function refuse(node: SimulatedNode, plan: Plan, position?: number): void {
    if (random.chance(weather.contention))
      throw new SqlError('contention', 'deadlock found', { errno: 1213, position });
    const isWritable = node === group.nodes[group.writer];
    for (const refusal of weather.refusals) {
      if (refusal.group === group.name && (isWritable || refusal.isOnAllNodes) && refusal.isOf(plan))
        throw new SqlError('rejected', `refused with error ${refusal.errno}`, { errno: refusal.errno, position });
    }
    if (plan.write && !isWritable)
      throw new SqlError('unreachable', 'the server is read-only', { errno: 1290, position });
  }

  function executionOn(node: SimulatedNode, { parameters }: Statement): Execution {
    const isHidden = (cell: KeptCell): boolean => node.hidden.size > 0 && (node.hidden.get(cell) ?? 0) > time.now();
    return {
      tables: node.tables,
      parameters,
      now: Math.round((BEGINNING_MS + time.now() + node.aheadMs) * 1000),
      serverId: node.serverId,
      isWritable: node === group.nodes[group.writer],
      isHidden,
      flaws,
    };
  }

  /** Returns a function that shows the cells to all: a caller with its answer sees its own commit. */
  function commit(node: SimulatedNode, changes: readonly TableChange[], isTransaction: boolean): () => void {
    const cells = changes.flatMap((change) => (change.kind === 'appended' ? change.cells : []));
    const isHiddenAtFirst = cells.length > 0 && random.chance(weather.hidden);
    if (isHiddenAtFirst) for (const cell of cells) node.hidden.set(cell, time.now() + MOST_HIDDEN_MS);
    if (isTransaction) group.commitGroup(changes);
    else group.commit(changes);
    return () => void cells.forEach((cell) => node.hidden.delete(cell));
  }

  function execute(node: SimulatedNode, { plan, statement }: Planned): Done {
    refuse(node, plan);
    const execution = executionOn(node, statement);
    if (plan.read) return { rows: plan.read(execution), written: [], shown: () => undefined };
    const written = plan.write(execution);
    return { rows: [], written: [written], shown: commit(node, written.changes, false) };
  }

  /** Runs statements on a server now: all of them or none. */
  function executePlan(node: SimulatedNode, planned: readonly Planned[]): Done {
    const tables = copyOf(node.tables);
    const written = planned.map(({ plan, statement }, position): Written => {
      refuse(node, plan, position);
      if (!plan.write) throw new Error(`a transaction of more than changes: ${statement.sql}`);
      try {
        const done = plan.write({ ...executionOn(node, statement), tables });
        for (const change of done.changes) applyToCopy(tables, change);
        return done;
      } catch (error) {
        throw error instanceof SqlError ? error.at(position) : error;
      }
    });
    const changes = written.flatMap((one) => one.changes);
    return { rows: [], written, shown: changes.length > 0 ? commit(node, changes, true) : () => undefined };
  }

  function send(planned: readonly Planned[], target: Target, run: (node: SimulatedNode) => Done): Promise<Done> {
    const isDoneTwice = planned.some(({ plan }) => TWICE.has(plan.kind));
    return new Promise((resolve, reject) => {
      let isOver = false;
      const sent = time.now();
      const end = (act: () => void): void => {
        if (!isOver) act();
        isOver = true;
      };
      const tell = (): void => planned.forEach(({ statement, plan }) => onFailure(statement, plan));
      const fail = (error: unknown): void =>
        end(() => {
          tell();
          reject(error);
        });
      const giveUp = (): void =>
        time.after(sent + QUERY_TIMEOUT_MS - time.now(), () =>
          fail(new SqlError('unclear', 'no answer in time', { timedOut: true })),
        );
      const breakOff = (): void =>
        time.after(latency(), () => fail(new SqlError('unclear', 'the connection was lost')));

      const runOn = (node: SimulatedNode): void => {
        const { life } = node;
        let done: Done;
        try {
          done = run(node);
          if (isDoneTwice && random.chance(weather.twice)) time.after(random.between(0, 50), () => again(node, life));
        } catch (error) {
          time.after(latency(), () => fail(error));
          return;
        }
        if (weather.mute.has(group.name)) return breakOff();
        if (random.chance(weather.lostAnswers)) return random.chance(0.5) ? breakOff() : giveUp();
        time.after(
          latency() + (done.written.length > 0 && node.hidden.size > 0 ? random.between(0, MOST_HIDDEN_MS) : 0),
          () => {
            done.shown();
            if (node.life !== life) fail(new SqlError('unclear', 'the server went away'));
            else end(() => resolve(done));
          },
        );
      };

      const again = (node: SimulatedNode, life: number): void => {
        if (node.life !== life || node.state !== 'up') return;
        // A hint that was withdrawn in the meantime is there again.
        tell();
        try {
          run(node);
        } catch (error) {
          if (!(error instanceof SqlError)) throw error;
        }
      };

      const arrive = (): void => {
        let node: SimulatedNode;
        try {
          node = nodeOf(target);
        } catch (error) {
          return fail(error);
        }
        if (weather.unavailable.has(group.name) || node.state === 'down')
          return void time.after(latency(), () =>
            fail(new SqlError('unreachable', `${group.name}: connection refused`)),
          );
        if (group.stalled && planned.some(({ plan }) => plan.write)) {
          group.stalled.push(() => runOn(node));
          return giveUp();
        }
        if (node.state === 'up') return runOn(node);
        node.waiting.push(() => runOn(node));
        giveUp();
      };

      if (random.chance(weather.lostRequests)) return giveUp();
      if (!random.chance(weather.late)) return void time.after(latency(), arrive);
      giveUp();
      time.after(random.between(...LATE_MS), arrive);
    });
  }

  return {
    abilities: { readsFromReaders: true, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: group.nodes.length,
    async select(statement, target) {
      const planned = plannedOf(statement);
      return (await send([planned], target, (node) => execute(node, planned))).rows;
    },
    async change(statement) {
      const planned = plannedOf(statement);
      return toChange((await send([planned], 'writer', (node) => execute(node, planned))).written[0]);
    },
    transactions: {
      atOnce: LANES,
      spare: LANES,
      async run(statements) {
        const planned = statements.map(plannedOf);
        return (await send(planned, 'writer', (node) => executePlan(node, planned))).written.map(toChange);
      },
    },
    close: async () => undefined,
  };
}

function plannedOf(statement: Statement): Planned {
  return { statement, plan: planOf(statement.sql) };
}

function toChange(written?: Written): SqlChange {
  return { affectedRows: written?.affectedRows ?? 0, insertId: written?.insertId ?? 0 };
}
