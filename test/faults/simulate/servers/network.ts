import { SqlError, UNBOUNDED, type SqlChange, type SqlClient, type SqlRow, type Statement, type Target } from '../../../../shared/sql/client.ts';
import type { Random } from '../../../support/random.ts';
import { BEGINNING_MS, type VirtualTime } from '../world/virtual-time.ts';
import type { Plan, ServerFlaws, Written } from './plan.ts';
import { planOf } from './plans.ts';
import type { SimulatedGroup, SimulatedNode } from './simulated-group.ts';

/** What happens to statements on their way, each as a share of them. Changed while the simulation runs. */
export interface Weather {
  /** Never arrive. */
  lostRequests: number;
  /** Are done, and nobody hears of it: the connection breaks at once, or says nothing until the time limit. */
  lostAnswers: number;
  /** Arrive seconds later, perhaps after their sender gave up. */
  late: number;
  /** Appends, and copies, that are done twice. */
  twice: number;
  /** Are rolled back: deadlock, lock wait. */
  contention: number;
  /** Commits that some snapshots do not show at first. */
  hidden: number;
  /** Groups that nothing reaches. */
  readonly away: Set<string>;
  readonly refusals: Set<Refusal>;
}

/** Statements that the servers of a group refuse for a while, each with a certain error: a full disk, rights or a table that went missing. */
export interface Refusal {
  readonly group: string;
  readonly errno: number;
  /** Readers do as their writer does. */
  readonly isOnAllNodes: boolean;
  isOf(plan: Plan): boolean;
}

export const CALM = { lostRequests: 0, lostAnswers: 0, late: 0, twice: 0, contention: 0, hidden: 0 };

/** A statement of the store that failed, as its sender sees it. */
export type OnFailure = (statement: Statement, plan: Plan) => void;

export interface NetworkOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly weather: Weather;
  readonly flaws: ServerFlaws;
  readonly onFailure: OnFailure;
}

/** As the store's own client has them. */
const QUERY_TIMEOUT_MS = 4000;
const LEAST_LATE_MS = 500;
const MOST_LATE_MS = 6000;
const MOST_HIDDEN_MS = 40;
const TWICE = new Set(['append', 'buffer']);

/** One group as the store reaches it. */
export function networkClient(group: SimulatedGroup, { time, random, weather, flaws, onFailure }: NetworkOptions): SqlClient {
  const latency = (): number => random.between(0.1, 1.5);

  function nodeOf(target: Target): SimulatedNode {
    if (target === 'writer') return group.nodes[group.writer] as SimulatedNode;
    const readers = group.nodes.filter((_, number) => number !== group.writer);
    const node = target === 'reader' ? readers[random.integer(0, readers.length - 1)] : group.nodes[target.node];
    if (!node) throw new SqlError('unreachable', `${group.name} has no such node`);
    return node;
  }

  /** Runs a statement on a server now. */
  function execute(node: SimulatedNode, plan: Plan, statement: Statement): { readonly rows: SqlRow[] } | { readonly written: Written; readonly shown: () => void } {
    if (random.chance(weather.contention)) throw new SqlError('contention', 'deadlock found', { errno: 1213 });
    const isWritable = node === group.nodes[group.writer];
    for (const refusal of weather.refusals) {
      if (refusal.group === group.name && (isWritable || refusal.isOnAllNodes) && refusal.isOf(plan)) throw new SqlError('rejected', `refused with error ${refusal.errno}`, { errno: refusal.errno });
    }
    const isHidden = (cell: Parameters<typeof node.hidden.get>[0]): boolean => node.hidden.size > 0 && (node.hidden.get(cell) ?? 0) > time.now();
    const execution = { tables: node.tables, parameters: statement.parameters, now: Math.round((BEGINNING_MS + time.now() + node.aheadMs) * 1000), serverId: node.serverId, isWritable, isHidden, flaws };
    if (plan.read) return { rows: plan.read(execution) };
    if (!isWritable) throw new SqlError('unreachable', 'the server is read-only', { errno: 1290 });
    const written = plan.write(execution);
    const cells = written.changes.flatMap((change) => (change.kind === 'appended' ? change.cells : []));
    const isHiddenAtFirst = cells.length > 0 && random.chance(weather.hidden);
    if (isHiddenAtFirst) for (const cell of cells) node.hidden.set(cell, time.now() + MOST_HIDDEN_MS);
    group.commit(written.changes);
    // Whoever has its answer sees its own commit.
    return { written, shown: () => void cells.forEach((cell) => node.hidden.delete(cell)) };
  }

  function send<T>(statement: Statement, target: Target, pick: (done: ReturnType<typeof execute>) => T): Promise<T> {
    const plan = planOf(statement.sql);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const sent = time.now();
      const end = (act: () => void): void => {
        if (!isOver) act();
        isOver = true;
      };
      const fail = (error: unknown): void => end(() => {
        onFailure(statement, plan);
        reject(error);
      });
      const giveUp = (): void => time.after(sent + QUERY_TIMEOUT_MS - time.now(), () => fail(new SqlError('unclear', 'no answer in time', { timedOut: true })));
      const breakOff = (): void => time.after(latency(), () => fail(new SqlError('unclear', 'the connection was lost')));

      const run = (node: SimulatedNode): void => {
        const { life } = node;
        let done: ReturnType<typeof execute>;
        try {
          done = execute(node, plan, statement);
          if ('written' in done && TWICE.has(plan.kind) && random.chance(weather.twice)) time.after(random.between(0, 50), () => again(node, life));
        } catch (error) {
          time.after(latency(), () => fail(error));
          return;
        }
        if (random.chance(weather.lostAnswers)) return random.chance(0.5) ? breakOff() : giveUp();
        time.after(latency() + ('shown' in done && node.hidden.size > 0 ? random.between(0, MOST_HIDDEN_MS) : 0), () => {
          if ('shown' in done) done.shown();
          if (node.life !== life) fail(new SqlError('unclear', 'the server went away'));
          else end(() => resolve(pick(done)));
        });
      };

      const again = (node: SimulatedNode, life: number): void => {
        if (node.life !== life || node.state !== 'up') return;
        // One writer counts as two then, and cannot take both back.
        onFailure(statement, plan);
        try {
          execute(node, plan, statement);
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
        if (weather.away.has(group.name) || node.state === 'down') return void time.after(latency(), () => fail(new SqlError('unreachable', `${group.name}: connection refused`)));
        if (node.state === 'up') return run(node);
        node.waiting.push(() => run(node));
        giveUp();
      };

      if (random.chance(weather.lostRequests)) return giveUp();
      if (!random.chance(weather.late)) return void time.after(latency(), arrive);
      giveUp();
      time.after(random.between(LEAST_LATE_MS, MOST_LATE_MS), arrive);
    });
  }

  return {
    abilities: { readsFromReaders: true, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: group.nodes.length,
    select: (statement, target) => send(statement, target, (done) => ('rows' in done ? done.rows : [])),
    change: (statement): Promise<SqlChange> => send(statement, 'writer', (done) => ('written' in done ? { affectedRows: done.written.affectedRows, insertId: done.written.insertId } : { affectedRows: 0, insertId: 0 })),
    close: async () => undefined,
  };
}
