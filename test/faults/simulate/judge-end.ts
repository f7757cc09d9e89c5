import { equalJson } from '../../../shared/body/equal.ts';
import { type BufferedRow, type KeptCell, valueOf } from './servers/tables.ts';
import type { SimulatedGroup } from './servers/simulated-group.ts';
import type { MemoryTopology } from './servers/memory-topology.ts';
import type { AnsweredPut, Chronicle } from './world/chronicle.ts';

/** The world once every fault is over and everything was drained. */
export interface CalmWorld {
  readonly chronicle: Chronicle;
  readonly groups: ReadonlyMap<string, SimulatedGroup>;
  readonly topology: MemoryTopology;
  readonly shards: number;
}

/** The rows that the servers of a shard's group hold, by its writer. */
export function logOf(
  { groups, topology }: Pick<CalmWorld, 'groups' | 'topology'>,
  shard: number,
): readonly KeptCell[] {
  const group = groups.get(topology.place(shard).group);
  return group?.nodes[group.writer]?.tables.logs.get(shard)?.cells ?? [];
}

/** Rows of all buffer tables. */
export function bufferedRows(groups: ReadonlyMap<string, SimulatedGroup>): BufferedRow[] {
  return [...groups.values()].flatMap((group) => [...(group.nodes[group.writer]?.tables.buffer.values() ?? [])]);
}

/** What must hold in the end. Says what does not. */
export function judgeEnd(world: CalmWorld): string[] {
  const kept = bufferedRows(world.groups).filter(({ state }) => state !== 'waiting');
  return [
    ...Array.from({ length: world.shards }, (_, shard) => judgeLog(world, shard)).flat(),
    ...world.chronicle.answers.flatMap((answer) => judgeAnswer(world, answer, kept)),
    ...kept.flatMap((row) => judgeKept(world, row)),
  ];
}

/** Dense, in order, each address once, and the same on every server of the group. */
function judgeLog({ groups, topology }: CalmWorld, shard: number): string[] {
  const group = groups.get(topology.place(shard).group);
  const log = logOf({ groups, topology }, shard);
  const broken: string[] = [];
  if (log.some(({ added_id }, place) => added_id !== place + 1))
    broken.push(`the log of shard ${shard} has ids ${log.map(({ added_id }) => added_id).join(', ')}`);
  if (log.some(({ createdAt }, place) => createdAt < (log[place - 1]?.createdAt ?? 0)))
    broken.push(`time goes back in the log of shard ${shard}`);
  if (new Set(log.map(({ address }) => address)).size < log.length)
    broken.push(`an address is in the log of shard ${shard} twice`);
  for (const [number, { tables }] of group?.nodes.entries() ?? []) {
    const other = tables.logs.get(shard)?.cells ?? [];
    if (other.length !== log.length || other.some((cell, place) => cell !== log[place]))
      broken.push(`node ${number} of ${group?.name} has another log of shard ${shard}`);
  }
  return broken;
}

/** An acknowledged write is in its log, or kept as a conflict that could not be told when it was answered. */
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
  // A second body came first while the primary was down.
  if (found && isKept && result.outcome === 'buffered') return [];
  // There was one copy only, and the client was told so; then its server was lost.
  if (result.outcome === 'buffered' && result.copies === 1 && world.chronicle.hasLostCopy(address, isBody)) return [];
  return [`${name} is ${found ? 'another cell now' : 'lost'}${isKept ? ', kept as a conflict' : ''}`];
}

/** Conflicts that are kept are those of writes that were not answered 409. */
function judgeKept(world: CalmWorld, row: BufferedRow): string[] {
  const { chronicle } = world;
  const name = `${row.state} row ${row.id} of ${Buffer.from(row.rowKey).toString('hex').slice(0, 8)}/${row.ref_key}`;
  if (row.state === 'parked') return [`${name}: no row should fail by itself`];
  const found = logOf(world, row.shard).find(({ address }) => address === row.address);
  const wasLost = chronicle.appendedTo(row.address).some(({ isLost }) => isLost);
  if (wasLost || chronicle.mayBeLeft(row.address)) return [];
  if (!found || equalJson(valueOf(found.body), valueOf(row.body))) return [`${name} contradicts nothing`];
  const writes = chronicle.answers.filter(
    ({ address, cell }) => address === row.address && equalJson(cell.body, valueOf(row.body)),
  );
  return writes.some(({ result }) => result.outcome === 'buffered' || result.outcome === 'unavailable')
    ? []
    : [`${name}: its writers were all told of the conflict`];
}
