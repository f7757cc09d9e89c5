import { equalJson } from '../../../shared/body/equal.ts';
import { beginOf, isConditional, markedPlace } from '../../../shared/body/transaction-mark.ts';
import type {
  Cell,
  LatestCondition,
  NewCell,
  PutResult,
  RowTransaction,
  TransactionResult,
} from '../../../shared/cell.ts';
import { latestOf } from './servers/append-statements.ts';
import type { Found } from '../../../shared/contract/datastore.ts';
import { addressKey, type AnsweredPut, type Chronicle } from './world/chronicle.ts';
import { valueOf, type BufferedRow, type KeptCell } from './servers/tables.ts';
import type { SimulatedGroup } from './servers/simulated-group.ts';
import type { World } from './world/world.ts';

/** The promises to clients, whatever happens to the servers: checked as they are answered. */
export interface Judge {
  readonly broken: string[];
  breaks(what: string): void;
  put(cell: NewCell, result: PutResult): void;
  transaction(transaction: RowTransaction, cells: readonly NewCell[], result: TransactionResult): void;
  /** @param acked writes of the same cell that were answered before this read was sent */
  read(wanted: NewCell, found: Found, acked: readonly PutResult[], minimum: number | undefined): void;
  /** Judges a cell that the store returned. */
  cell(cell: Cell, where: string): void;
}

type Stored = Extract<PutResult, { readonly outcome: 'stored' | 'stored_before' }>;

function isStored(result: PutResult): result is Stored {
  return result.outcome === 'stored' || result.outcome === 'stored_before';
}

export function openJudge(chronicle: Chronicle): Judge {
  const broken: string[] = [];
  const breaks = (what: string): void => void broken.push(what);
  const nameOf = ({ row_key, column_name, ref_key }: NewCell | Cell): string =>
    `${row_key.slice(0, 8)}/${column_name}/${ref_key}`;

  /** Returns the appended cells that an answer may mean. */
  function meant(cell: NewCell, shard: number, addedId: number) {
    const address = addressKey(cell);
    return chronicle.appendedAt(shard, addedId).filter((one) => one.cell.address === address);
  }

  function showed(cell: Cell, where: string): void {
    const address = addressKey(cell);
    if (!chronicle.seen.has(address)) chronicle.seen.set(address, cell);
    if (!meant(cell, cell.shard, cell.added_id).some((one) => equalJson(valueOf(one.cell.body), cell.body)))
      breaks(`${where} showed ${nameOf(cell)} at ${cell.added_id} of shard ${cell.shard}, where it never was`);
  }

  return {
    broken,
    breaks,
    put(cell, result) {
      chronicle.answered(cell, result);
      const name = nameOf(cell);
      const acknowledged = chronicle.acknowledged(addressKey(cell));
      if (isStored(result) && acknowledged && !equalJson(acknowledged.body, cell.body))
        breaks(`${name} was answered ${result.outcome}, where another body had been acknowledged`);
      if (result.outcome === 'buffered' && chronicle.copiesOf(cell) < result.copies)
        breaks(`${name} was answered buffered with ${result.copies} copies, and had ${chronicle.copiesOf(cell)}`);
      if (result.outcome === 'conflict' && result.added_id === undefined)
        breaks(`${name} was answered conflict without an added id`);
      else if (isStored(result) || result.outcome === 'conflict') {
        const there = meant(cell, result.shard, result.added_id ?? 0);
        const same = there.filter((one) => equalJson(valueOf(one.cell.body), cell.body));
        const other = there.filter((one) => !same.includes(one));
        if (result.outcome === 'conflict' && other.length === 0)
          breaks(`${name} was answered conflict with ${result.added_id}, where no other body ever was`);
        if (result.outcome !== 'conflict' && same.length === 0)
          breaks(`${name} was answered ${result.outcome} at ${result.added_id}, where it never was`);
        else if (result.outcome === 'stored') {
          const unclaimed = same.find(({ claims }) => claims === 0);
          if (unclaimed) unclaimed.claims += 1;
          else breaks(`${name} was answered stored twice, at ${result.added_id}`);
        }
      }
    },
    transaction(transaction, cells, result) {
      if (result.outcome === 'condition_failed' || result.outcome === 'conflict' || result.outcome === 'erased') return;
      chronicle.transacted(transaction);
      for (const [position, cell] of cells.entries()) {
        const { shard } = result;
        if ('added_ids' in result)
          // Some may have been there before: only the last of them is known to be its own.
          this.put(cell, {
            outcome: 'stored_before',
            shard,
            added_id: result.added_ids[position] ?? 0,
            created_at: '',
          });
        else this.put(cell, result as PutResult);
      }
    },
    read(wanted, { cell, served_by, stale }, acked, minimum) {
      if (cell) showed(cell, 'a read');
      const shard = cell?.shard ?? acked.find((result) => result.shard >= 0)?.shard ?? -1;
      // After a loss of cells or a move, acknowledged cells may be missing for a while.
      if (chronicle.moves.has(shard) || chronicle.appendedTo(addressKey(wanted)).some(({ isLost }) => isLost)) return;
      if (!cell && !stale && acked.some(isStored))
        breaks(
          `${nameOf(wanted)} was acknowledged, and then not to be read from the ${served_by}${minimum === undefined ? '' : ` that has reached ${minimum}`}`,
        );
    },
    cell: showed,
  };
}

/** The world once every fault is over and everything is drained. */
type CalmWorld = Pick<World, 'chronicle' | 'groups' | 'topology' | 'allShards'>;

/** Returns a shard's rows as its group's writer has them. */
export function logOf(
  { groups, topology }: Pick<CalmWorld, 'groups' | 'topology'>,
  shard: number,
): readonly KeptCell[] {
  const group = groups.get(topology.home(shard).group);
  return group?.nodes[group.writer]?.tables.logs.get(shard)?.cells ?? [];
}

export function bufferedRows(groups: ReadonlyMap<string, SimulatedGroup>): BufferedRow[] {
  return [...groups.values()].flatMap((group) => [...(group.nodes[group.writer]?.tables.buffer.values() ?? [])]);
}

/** Returns the promises that do not hold in the end. */
export function judgeEnd(world: CalmWorld): string[] {
  const kept = bufferedRows(world.groups).filter(({ state }) => state !== 'waiting');
  return [
    ...world.allShards.flatMap((shard) => judgeLog(world, shard)),
    ...world.chronicle.answers.flatMap((answer) => judgeAnswer(world, answer, kept)),
    ...[...world.chronicle.seen].flatMap(([address, cell]) => judgeSeen(world, address, cell)),
    ...kept.flatMap((row) => judgeKept(world, row)),
  ];
}

/** Checks the log: dense, in order, each address once, and the same on every server of the group. */
function judgeLog({ groups, topology, chronicle }: CalmWorld, shard: number): string[] {
  const group = groups.get(topology.home(shard).group);
  const log = logOf({ groups, topology }, shard);
  const broken = judgeTransactions(log, chronicle.cutShards.has(shard) ? [] : chronicle.transactions);
  if (log.some(({ added_id }, position) => added_id !== position + 1))
    broken.push(`the log of shard ${shard} has ids ${log.map(({ added_id }) => added_id).join(', ')}`);
  if (log.some(({ createdAt }, position) => createdAt < (log[position - 1]?.createdAt ?? 0)))
    broken.push(`time goes back in the log of shard ${shard}`);
  if (new Set(log.map(({ address }) => address)).size < log.length)
    broken.push(`an address is in the log of shard ${shard} twice`);
  for (const [number, { tables }] of group?.nodes.entries() ?? []) {
    const other = tables.logs.get(shard)?.cells ?? [];
    if (other.length !== log.length || other.some((cell, position) => cell !== log[position]))
      broken.push(`node ${number} of ${group?.name} has another log of shard ${shard}`);
  }
  return broken;
}

/** Checks that a log has all cells of each transaction next to each other, and that conditions held before it. */
function judgeTransactions(log: readonly KeptCell[], known: readonly RowTransaction[]): string[] {
  const broken: string[] = [];
  for (const [position, cell] of log.entries()) {
    const place = markedPlace(cell.body);
    if (place?.position !== 0) {
      const before = log[position - 1];
      if (place && (!before || !isNext(before, cell))) broken.push(`a part of a transaction is at ${cell.added_id}`);
      continue;
    }
    const others = log.slice(position, position + place.size);
    if (others.length < place.size || others.some((one, at) => at > 0 && !isNext(others[at - 1] as KeptCell, one)))
      broken.push(`the transaction at ${cell.added_id} of shard ${cell.shard} is not whole`);
    if (!isConditional(cell.body)) continue;
    const isOf = ({ row_key, cells }: RowTransaction, { address, body }: KeptCell): boolean =>
      cells.some((one) => addressKey({ row_key, ...one }) === address && equalJson(one.body, valueOf(body)));
    const meant = known.filter((one) => others.every((other) => isOf(one, other)));
    const before = log.slice(0, position);
    const isMet = ({ column_name, latest }: LatestCondition): boolean =>
      latestOf(before, cell.rowKey, Buffer.from(column_name)) === (latest ?? -1);
    if (meant.length > 0 && !meant.some((one) => (one.if ?? []).every(isMet)))
      broken.push(`a condition did not hold before the transaction at ${cell.added_id} of shard ${cell.shard}`);
  }
  return broken;
}

function isNext(one: KeptCell, other: KeptCell): boolean {
  const [before, after] = [beginOf(one.body), beginOf(other.body)];
  if (!before || !after || Buffer.compare(before, after) !== 0) return false;
  return (markedPlace(other.body)?.position ?? 0) === (markedPlace(one.body)?.position ?? 0) + 1;
}

/** Checks that an acknowledged write is in its log, or kept as a conflict that could not be told in its answer. */
function judgeAnswer(world: CalmWorld, { cell, address, result }: AnsweredPut, kept: readonly BufferedRow[]): string[] {
  const isBody = (body: Uint8Array): boolean => equalJson(valueOf(body), cell.body);
  const appended = world.chronicle.appendedTo(address);
  const found = logOf(world, result.shard).find((one) => one.address === address);
  const name = `${cell.row_key.slice(0, 8)}/${cell.column_name}/${cell.ref_key}, answered ${result.outcome},`;
  const wasCertain = result.outcome === 'conflict' && !appended.some(({ isLost }) => isLost);
  if (result.outcome === 'conflict')
    return wasCertain && found && isBody(found.body) ? [`${name} was stored after all`] : [];
  if (result.outcome === 'unavailable' || (found && isBody(found.body))) return [];
  const isKept = kept.some((row) => row.state === 'conflict' && row.address === address && isBody(row.body));
  // A second body came first while the primary was down; of a transaction, at one of its addresses.
  const isOfTransaction = kept.some((row) => row.address === address && beginOf(row.body) !== undefined);
  if ((found || isOfTransaction) && isKept && result.outcome === 'buffered') return [];
  // Only one copy existed, as the client was told; then its server was lost.
  if (result.outcome === 'buffered' && result.copies === 1 && world.chronicle.hasLostCopy(address, isBody)) return [];
  return [`${name} is ${found ? 'another cell now' : 'lost'}${isKept ? ', kept as a conflict' : ''}`];
}

/**
 * Checks that a cell shown to a reader stays for good, whatever its writer was told. Not one of a transaction with
 * conditions that a promotion lost: its hint comes after its append, and `judgeAnswer` finds those acknowledged.
 */
function judgeSeen(world: CalmWorld, address: string, { shard, row_key, ref_key, body }: Cell): string[] {
  const found = logOf(world, shard).find((one) => one.address === address);
  if (found && equalJson(valueOf(found.body), body)) return [];
  const isBody = (other: Uint8Array): boolean => equalJson(valueOf(other), body);
  if (world.chronicle.hasLostCopy(address, isBody)) return [];
  const appended = world.chronicle.appendedTo(address).filter(({ cell }) => isBody(cell.body));
  if (appended.some(({ isLost, cell }) => isLost && isConditional(cell.body))) return [];
  return [`${row_key.slice(0, 8)}/${ref_key}, which was read, is ${found ? 'another cell now' : 'lost'}`];
}

/** Checks that kept conflicts are those of writes that were not answered 409. */
function judgeKept(world: CalmWorld, row: BufferedRow): string[] {
  const { chronicle } = world;
  const name = `${row.state} row ${row.id} of ${Buffer.from(row.rowKey).toString('hex').slice(0, 8)}/${row.ref_key}`;
  if (row.state === 'parked') return isConditional(row.body) ? [] : [`${name}: no row should fail by itself`];
  const found = logOf(world, row.shard).find(({ address }) => address === row.address);
  const wasLost = chronicle.appendedTo(row.address).some(({ isLost }) => isLost);
  if (wasLost || chronicle.mayBeLeft(row.address)) return [];
  if (beginOf(row.body)) return [];
  if (!found || equalJson(valueOf(found.body), valueOf(row.body))) return [`${name} contradicts nothing`];
  const writes = chronicle.answers.filter(
    ({ address, cell }) => address === row.address && equalJson(cell.body, valueOf(row.body)),
  );
  return writes.some(({ result }) => result.outcome === 'buffered' || result.outcome === 'unavailable')
    ? []
    : [`${name}: its writers were all told of the conflict`];
}
