import { randomUUID } from 'node:crypto';
import { homeOf, requireDatastore, requireServed } from '../access/groups.ts';
import { parseShard } from '../address.ts';
import type { MoveOperations, MoveStatus } from '../api/moves.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { beginMoving, type MovingShard } from '../topology/moving-shards.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import type { DatastoreTopology, TopologySource } from '../topology/topology.ts';
import {
  beginMove,
  hasEnded,
  isSwitchWanted,
  newMove,
  readMove,
  requestMove,
  type Move,
  type MoveItem,
  type MoveRequest,
} from './move-item.ts';

interface MoveManagementOptions {
  readonly topology: TopologySource;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
}

export type MoveManagement = ReturnType<typeof moveManagement>;

/** The moves of every datastore's shards, for operators. */
export function moveManagement(options: MoveManagementOptions) {
  return {
    /** Throws `unknown_datastore`. */
    async moves(datastore: string): Promise<MoveOperations> {
      await requireServed(options.topology, datastore);
      return moveOperations(options, datastore);
    },
  };
}

function moveOperations(options: MoveManagementOptions, datastore: string): MoveOperations {
  const { topology, stateTable } = options;

  /** The datastore as it is now: where a shard is changes with each switch. */
  function now(): Promise<DatastoreTopology> {
    topology.refresh();
    return requireDatastore(topology, datastore);
  }

  const found = async (shard: number): Promise<MovingShard> => ({
    datastore,
    shard: parseShard(shard, (await requireDatastore(topology, datastore)).shards),
  });

  function requestOperation(
    wanted: MoveRequest,
    mayBe: (move: Move) => boolean,
    why: string,
  ): MoveOperations['switchMove'] {
    return ({ shard }) =>
      overState(async () => {
        const of = await found(shard);
        const item = await requestMove(stateTable, of, (seen) => {
          const { move } = required(seen, of);
          if (hasEnded(move) || !mayBe(move)) throw refused(move, hasEnded(move) ? 'it has ended' : why);
          if (wanted === 'verify' && seen?.desired) throw refused(move, `${seen.desired} is asked for already`);
          return wanted;
        });
        return statusOf(required(item, of));
      });
  }

  return {
    listMoves: () =>
      overState(async () => {
        const { homes } = await now();
        const moving = homes.flatMap(({ copy }, shard) => (copy ? [shard] : []));
        const items = await Promise.all(moving.map((shard) => readMove(stateTable, { datastore, shard })));
        return { moves: items.flatMap((item) => (item && !hasEnded(item.move) ? [statusOf(item)] : [])) };
      }),
    getMove: ({ shard }) =>
      overState(async () => {
        const of = await found(shard);
        return statusOf(required(await readMove(stateTable, of), of));
      }),
    createMove: (given) =>
      overState(async () => create(options, await now(), { ...given, shard: (await found(given.shard)).shard })),
    switchMove: requestOperation(
      'switch',
      ({ switches }) => switches === 0,
      'it was switched already: reverse it instead',
    ),
    reverseMove: requestOperation('reverse', ({ switches }) => switches > 0, 'it was not switched yet'),
    completeMove: requestOperation(
      'complete',
      ({ switches }) => switches > 0,
      'it was not switched yet: cancel it instead',
    ),
    cancelMove: requestOperation(
      'cancel',
      ({ switches }) => switches === 0,
      'it was switched already: reverse or complete it',
    ),
    verifyMove: requestOperation('verify', () => true, ''),
  };
}

async function create(
  { topology: source, topologyTable, stateTable }: MoveManagementOptions,
  topology: DatastoreTopology,
  { shard, to, ...options }: Parameters<MoveOperations['createMove']>[0],
): Promise<MoveStatus> {
  const { datastore } = topology;
  const names = (await source.groupsNow()).map(({ name }) => name);
  if (!names.includes(to)) throw invalidField('to', `one of ${names.join(', ')}`, to);
  const { group: from, copy } = homeOf(topology, shard);
  const seen = await readMove(stateTable, { datastore, shard });
  if (seen && copy && !hasEnded(seen.move)) {
    if (seen.move.to === to) return statusOf(seen);
    throw refused(seen.move, `it is being moved between ${seen.move.from} and ${seen.move.to}`);
  }
  if (from === to)
    throw new SchemalessError('move_refused', `shard ${shard} of ${datastore} is on ${to} already`, { field: 'to' });
  // A move that was taken, and never written, continues: it has nothing but its id.
  const left = copy && copy.move !== seen?.move.id ? copy : undefined;
  if (left && left.group !== to)
    throw new SchemalessError('move_refused', `a move of shard ${shard} to ${left.group} was begun: begin it again`, {
      field: 'to',
      wanted: left.group,
      got: to,
    });
  const id = left?.move ?? randomUUID();
  if (!left && !(await beginMoving(topologyTable, { datastore, shard }, { from, to, id })))
    throw new SchemalessError('unavailable', `shard ${shard} of ${datastore} is being moved`);
  const move = await beginMove(
    stateTable,
    newMove({
      datastore,
      shard,
      id,
      from,
      to,
      created_at: new Date().toISOString(),
      switchesAlone: options.switch ?? false,
      complete_after_seconds: options.complete_after_seconds ?? null,
    }),
  );
  return statusOf({ move, desired: null });
}

function required(item: MoveItem | undefined, { datastore, shard }: MovingShard): MoveItem {
  if (item) return item;
  throw new SchemalessError('unknown_move', `shard ${shard} of ${datastore} is not being moved`, {
    field: 'shard',
    more: { shard },
  });
}

function refused({ datastore, shard, step, switches }: Move, why: string): SchemalessError {
  return new SchemalessError('move_refused', `the move of shard ${shard} of ${datastore}: ${why}`, {
    more: { shard, step, switches },
  });
}

function statusOf({ move, desired }: MoveItem): MoveStatus {
  const { source, target, head, bytes, bytes_per_second, step } = move;
  const copied = Math.max(move.copied, source.at);
  const left = Math.max(0, head - copied);
  const perCell = copied > 0 ? bytes / copied : 0;
  const isOver = hasEnded(move);
  const isDropWanted = desired === 'complete' || desired === 'cancel';
  return {
    shard: move.shard,
    from: move.from,
    to: move.to,
    step,
    wanted: isOver ? null : isDropWanted ? 'drop' : isSwitchWanted(move, desired) ? 'switch' : null,
    switches: move.switches,
    created_at: move.created_at,
    switched_at: move.switched_at,
    head,
    copied,
    compared: target.at,
    bytes,
    bytes_per_second,
    eta_seconds:
      step === 'following' ? 0 : bytes_per_second > 0 ? Math.ceil((left * perCell) / bytes_per_second) : null,
    digest: target.at > 0 ? target.digest : null,
    restarts: move.restarts,
    closed_ms: move.closed_ms,
    complete_after_seconds: move.complete_after_seconds,
    last_error: move.last_error,
  };
}
