import { equalJson } from '../../../../shared/body/equal.ts';
import type { Cell, CellAddress, NewCell, PutResult, RowTransaction } from '../../../../shared/cell.ts';
import type { Statement } from '../../../../shared/sql/client.ts';
import type { Plan } from '../servers/plan.ts';
import type { Witness } from '../servers/simulated-group.ts';
import { addressOf, valueOf, type KeptCell } from '../servers/tables.ts';
import { rowKeyBytes } from '../../../../shared/address.ts';

/** A cell that was ever appended, on any server, and whether a promotion lost it. */
interface AppendedCell {
  readonly cell: KeptCell;
  isLost: boolean;
  /** The time by the simulation's clock. */
  readonly at: number;
  /** Answers `stored` that can only mean this one. */
  claims: number;
}

export interface AnsweredPut {
  readonly cell: NewCell;
  readonly address: string;
  readonly result: PutResult;
}

/**
 * The true history, which no part of the simulated world knows: every appended cell, every copy, the losses of
 * promotions, and the answers to clients.
 */
export interface Chronicle extends Witness {
  /** Returns cells by shard and added id, in order of arrival. */
  appendedAt(shard: number, addedId: number): readonly AppendedCell[];
  appendedTo(address: string): readonly AppendedCell[];
  /** Resolves with the next append, on any server. */
  nextAppend(): Promise<void>;
  /**
   * Returns when this cell was first appended, by the simulation's clock. A cell that a promotion lost, and that came
   * back at the same added id with the same time and body, is the same to all followers.
   */
  appendedWhen(cell: KeptCell): number;
  /** Returns the number of groups that ever held a copy of such a write. */
  copiesOf(cell: NewCell): number;
  /** Returns whether a promotion lost a copy of this write. */
  hasLostCopy(address: string, isBody: (body: Uint8Array) => boolean): boolean;
  /** Returns whether a statement about this write's copies failed: one may be left that cannot be withdrawn. */
  mayBeLeft(address: string): boolean;
  failed(statement: Statement, plan: Plan): void;
  answered(cell: NewCell, result: PutResult): void;
  /** Records that the outcome of this write will never be known. */
  abandoned(cell: NewCell): void;
  /** Returns the first cell that a client was told is stored at this address. */
  acknowledged(address: string): NewCell | undefined;
  /** The cell that a reader was shown first, by address. */
  readonly seen: Map<string, Cell>;
  readonly answers: AnsweredPut[];
  /** Transactions that are stored, or may be. */
  readonly transactions: readonly RowTransaction[];
  transacted(transaction: RowTransaction): void;
  /** Shards that moved, with the time of it. */
  readonly moves: Map<number, number>;
  /** Shards that lost cells. */
  readonly cutShards: Set<number>;
  readonly counts: { lostCells: number; failures: number };
}

export function chronicle(now: () => number): Chronicle {
  const byLocation = new Map<string, AppendedCell[]>();
  const byAddress = new Map<string, AppendedCell[]>();
  const copies = new Map<string, { readonly group: string; readonly body: Uint8Array; isLost: boolean }[]>();
  const leftovers = new Set<string>();
  const answers: AnsweredPut[] = [];
  const transactions: RowTransaction[] = [];
  const acknowledged = new Map<string, NewCell>();
  const cutShards = new Set<number>();
  const counts = { lostCells: 0, failures: 0 };
  let appending = Promise.withResolvers<void>();
  const locationKey = (shard: number, addedId: number): string => `${shard}/${addedId}`;

  return {
    changed(group, change) {
      if (change.kind === 'appended') {
        appending.resolve();
        appending = Promise.withResolvers();
        for (const cell of change.cells) {
          // Copied to another group: the same cell.
          if (byAddress.get(cell.address)?.some((one) => one.cell === cell)) continue;
          const appended = { cell, isLost: false, at: now(), claims: 0 };
          push(byLocation, locationKey(cell.shard, cell.added_id), appended);
          push(byAddress, cell.address, appended);
        }
      } else if (change.kind === 'buffered') {
        const { address, body, state, writers } = change.row;
        push(copies, address, { group, body, isLost: false });
        // A hint may arrive after its write was answered, when its instance can no longer withdraw it.
        const wasAnswered = (one: AnsweredPut): boolean =>
          one.address === address && equalJson(one.cell.body, valueOf(body));
        if (state === 'waiting' && writers.length === 1 && answers.some(wasAnswered)) leftovers.add(address);
      }
    },
    lost(group, changes) {
      for (const change of changes) {
        if (change.kind === 'appended') {
          counts.lostCells += change.cells.length;
          cutShards.add(change.shard);
          for (const cell of change.cells)
            for (const one of byAddress.get(cell.address) ?? []) if (one.cell === cell) one.isLost = true;
        } else if (change.kind === 'buffered') {
          for (const copy of copies.get(change.row.address) ?? [])
            if (copy.group === group && copy.body === change.row.body) copy.isLost = true;
        } else if (change.kind === 'unbuffered') {
          // A withdrawn copy is back.
          leftovers.add(change.row.address);
        }
      }
    },
    appendedAt: (shard, addedId) => byLocation.get(locationKey(shard, addedId)) ?? [],
    appendedTo: (address) => byAddress.get(address) ?? [],
    nextAppend: () => appending.promise,
    appendedWhen: (cell) => byAddress.get(cell.address)?.find((one) => isSame(one.cell, cell))?.at ?? 0,
    copiesOf: (cell) =>
      new Set(
        (copies.get(addressKey(cell)) ?? [])
          .filter(({ body }) => equalJson(valueOf(body), cell.body))
          .map(({ group }) => group),
      ).size,
    hasLostCopy: (address, isBody) => (copies.get(address) ?? []).some((copy) => copy.isLost && isBody(copy.body)),
    mayBeLeft: (address) => leftovers.has(address),
    failed(statement, plan) {
      counts.failures += 1;
      if (plan.kind !== 'buffer' && plan.kind !== 'withdraw' && plan.kind !== 'delete withdrawn') return;
      for (const address of addressesIn(statement, plan)) leftovers.add(address);
    },
    answered(cell, result) {
      const address = addressKey(cell);
      answers.push({ cell, address, result });
      if ((result.outcome === 'stored' || result.outcome === 'stored_before') && !acknowledged.has(address))
        acknowledged.set(address, cell);
    },
    abandoned: (cell) => void leftovers.add(addressKey(cell)),
    acknowledged: (address) => acknowledged.get(address),
    seen: new Map(),
    answers,
    transactions,
    transacted: (transaction) => void transactions.push(transaction),
    moves: new Map(),
    cutShards,
    counts,
  };
}

function isSame(one: KeptCell, other: KeptCell): boolean {
  if (one === other) return true;
  if (one.shard !== other.shard || one.added_id !== other.added_id || one.createdText !== other.createdText)
    return false;
  return Buffer.compare(one.body, other.body) === 0;
}

/** Returns the address of a cell, as the tables' rows name theirs. */
export function addressKey({ row_key, column_name, ref_key }: CellAddress): string {
  return addressOf(rowKeyBytes(row_key), Buffer.from(column_name), ref_key);
}

function addressesIn({ parameters }: Statement, { kind }: Plan): string[] {
  const [from, width] = kind === 'buffer' ? [2, 9] : kind === 'withdraw' ? [3, 5] : [1, 5];
  return Array.from({ length: Math.floor(parameters.length / width) }, (_, row) => {
    const [rowKey, columnName, refKey] = parameters.slice(row * width + from, row * width + from + 3);
    return addressOf(rowKey as Uint8Array, columnName as Uint8Array, Number(refKey));
  });
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
