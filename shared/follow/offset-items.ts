import { randomUUID } from 'node:crypto';
import type { DynamoTable } from '../dynamo/table.ts';
import {
  type Checkpoint,
  decodeCheckpoints,
  decodeOffsets,
  encodeCheckpoints,
  encodeOffsets,
  type ShardOffset,
} from './offsets.ts';
import { shardsIn, type FollowerName } from './follower-item.ts';
import { deleteState, readState, readStates, setState, updateState, type StateItem } from '../dynamo/state-table.ts';

/**
 * A partition's lease and its offsets in one item: taking it fences off the previous worker in the same write.
 *
 * This is not a `Leases` of `shared/dynamo/`. One announcement of the worker (`workers.ts`) shows that it lives, since
 * a heartbeat for each partition would cost more than all other writes. The assignment decides the next worker.
 */
export interface OffsetItem {
  /** The worker that follows the partition; '' for none. */
  readonly owner: string;
  /** Rises with each take. */
  readonly token: number;
  /** Rises with each rewind, and when a log was cut. */
  readonly generation: number;
  /** In the order of the partition's shards. */
  readonly offsets: readonly (ShardOffset | undefined)[];
}

interface OffsetLayout extends FollowerName {
  readonly shards: number;
  readonly partitions: number;
}

export interface CommitOptions {
  /** Lets another worker take the partition. @default false */
  readonly last?: boolean;
  /** Raises the generation by one. @default false */
  readonly next?: boolean;
}

/** Tries of a rewind: a busy worker commits every second, and its commits leave no version for `changeItem`. */
const REWIND_TRIES = 50;

/** Items of a follower's partitions: `offsets#repair#trips#7`, and the larger, rarer `checkpoints#…`. */
export class OffsetItems {
  readonly #table: DynamoTable;
  readonly #layout: OffsetLayout;

  constructor(table: DynamoTable, layout: OffsetLayout) {
    this.#table = table;
    this.#layout = layout;
  }

  async read(partition: number): Promise<OffsetItem | undefined> {
    const item = await readState(this.#table, this.#keyOf('offsets', partition));
    return item && toItem(item, this.#shardsIn(partition));
  }

  /** Reads the items of partitions together; missing ones are left out. */
  async readAll(partitions: readonly number[]): Promise<ReadonlyMap<number, OffsetItem>> {
    const keyOf = (partition: number): string => this.#keyOf('offsets', partition);
    const items = await readStates(this.#table, partitions.map(keyOf));
    return new Map(
      partitions.flatMap((partition) => {
        const item = items.get(keyOf(partition));
        return item ? [[partition, toItem(item, this.#shardsIn(partition))] as const] : [];
      }),
    );
  }

  /**
   * Takes a partition unless one of `others`, the other workers alive, holds it. From then on no other commit passes.
   *
   * The owner is read first and the write is conditional on its token. DynamoDB refuses a condition that names more
   * than 100 others, and charges for each write whose condition fails. `items`: what was read of several partitions.
   */
  async take(
    partition: number,
    owner: string,
    others: readonly string[],
    items?: ReadonlyMap<number, OffsetItem>,
  ): Promise<OffsetItem | undefined> {
    const { owner: holder = '', token = 0 } = (items ?? (await this.readAll([partition]))).get(partition) ?? {};
    if (others.includes(holder)) return undefined;
    const taken = await updateState(this.#table, {
      key: this.#keyOf('offsets', partition),
      update: 'SET #owner = :me ADD #token :one',
      condition: token > 0 ? '#token = :seen' : 'attribute_not_exists(#token)',
      values: { ':me': { S: owner }, ':one': { N: '1' }, ...(token > 0 && { ':seen': { N: String(token) } }) },
    });
    return taken && toItem(taken, this.#shardsIn(partition));
  }

  /** Writes the offsets if this token still holds the partition and no rewind came; returns whether it did. */
  async commit(
    partition: number,
    { token, generation }: Pick<OffsetItem, 'token' | 'generation'>,
    offsets: OffsetItem['offsets'],
    { last = false, next = false }: CommitOptions = {},
  ): Promise<boolean> {
    const unrewound =
      generation === 0
        ? '(attribute_not_exists(#generation) OR #generation = :generation)'
        : '#generation = :generation';
    const sets = [
      '#offsets = :offsets',
      ...(last ? ['#owner = :nobody'] : []),
      ...(next ? ['#generation = :next'] : []),
    ];
    const item = await updateState(this.#table, {
      key: this.#keyOf('offsets', partition),
      update: `SET ${sets.join(', ')}`,
      condition: `#token = :token AND ${unrewound}`,
      values: {
        ':offsets': { B: encodeOffsets(offsets) },
        ...(last ? { ':nobody': { S: '' } } : {}),
        ...(next ? { ':next': { N: String(generation + 1) } } : {}),
        ':token': { N: String(token) },
        ':generation': { N: String(generation) },
      },
    });
    return item !== undefined;
  }

  /** Lets another worker take the partition at once. */
  async release(partition: number, token: number): Promise<void> {
    await updateState(this.#table, {
      key: this.#keyOf('offsets', partition),
      update: 'SET #owner = :nobody',
      condition: '#token = :token',
      values: { ':nobody': { S: '' }, ':token': { N: String(token) } },
    });
  }

  /**
   * Changes the offsets under whichever worker holds the partition, and raises the generation. `to`: the new
   * generation; a partition that has it, or a higher one, stays as it is @default the next one.
   */
  async rewind(
    partition: number,
    change: (offsets: OffsetItem['offsets']) => OffsetItem['offsets'],
    to?: number,
  ): Promise<void> {
    const key = this.#keyOf('offsets', partition);
    const id = { S: randomUUID() };
    for (let attempt = 1; attempt <= REWIND_TRIES; attempt += 1) {
      const item = await readState(this.#table, key);
      const generation = Number(item?.['generation']?.N ?? 0);
      const next = to ?? generation + 1;
      // A write whose answer was lost is repeated, and then refused.
      if (generation >= next || item?.['rewind']?.S === id.S) return;
      const before = item?.['offsets'];
      const unmoved = before ? '#offsets = :before' : 'attribute_not_exists(#offsets)';
      const written = await updateState(this.#table, {
        key,
        update: 'SET #offsets = :offsets, #generation = :next, #rewind = :id',
        condition: `${unmoved} AND (attribute_not_exists(#generation) OR #generation < :next)`,
        values: {
          ':offsets': { B: encodeOffsets(change(decodeOffsets(before?.B, this.#shardsIn(partition)))) },
          ':next': { N: String(next) },
          ':id': id,
          ...(before ? { ':before': before } : {}),
        },
      });
      if (written) return;
    }
    const moved = `its offsets moved ${REWIND_TRIES} times while it was to be rewound`;
    throw new Error(`partition ${partition} of ${this.#layout.name}: ${moved}`);
  }

  /** Reads checkpoints. They need no fence: one is used only below the offset and while its cell is there. */
  async readCheckpoints(partition: number): Promise<Checkpoint[][]> {
    const item = await readState(this.#table, this.#keyOf('checkpoints', partition));
    return decodeCheckpoints(item?.['checkpoints']?.B, this.#shardsIn(partition));
  }

  async writeCheckpoints(partition: number, checkpoints: readonly (readonly Checkpoint[])[]): Promise<void> {
    await setState(this.#table, this.#keyOf('checkpoints', partition), {
      checkpoints: { B: encodeCheckpoints(checkpoints) },
    });
  }

  async forget(partition: number): Promise<void> {
    await deleteState(this.#table, this.#keyOf('offsets', partition));
    await deleteState(this.#table, this.#keyOf('checkpoints', partition));
  }

  #keyOf(kind: 'offsets' | 'checkpoints', partition: number): string {
    return `${kind}#${this.#layout.name}#${this.#layout.datastore}#${partition}`;
  }

  #shardsIn(partition: number): number {
    return shardsIn(partition, this.#layout.partitions, this.#layout.shards);
  }
}

function toItem(item: StateItem, shards: number): OffsetItem {
  return {
    owner: item['owner']?.S ?? '',
    token: Number(item['token']?.N ?? 0),
    generation: Number(item['generation']?.N ?? 0),
    offsets: decodeOffsets(item['offsets']?.B, shards),
  };
}
