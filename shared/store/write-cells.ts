import type { PlacedCell } from '../sql/encoded-cell.ts';
import { parseAddress, parseBatch, shardOf } from '../address.ts';
import { encodeBody } from '../body/codec.ts';
import type { NewCell, PutResult, RestoredCell } from '../cell.ts';
import { parseTime } from '../time.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import { checkBounds } from './check-bounds.ts';
import { secondariesOf, withNewWriter } from './hints.ts';
import { settleRepeats } from './settle-repeats.ts';
import { transactions } from './transact.ts';
import { admitToGroup, inParts, type Writes } from './write-to-group.ts';
import type { StoreContext } from '../access/context.ts';
import type { Datastore } from '../contract/datastore.ts';

/** The write path: validate, route, buffer on secondaries, append on the primary, answer. */
export function cellWrites(
  context: StoreContext,
  name: string,
  shards: number,
): Pick<Datastore, 'put' | 'batchPut' | 'transact' | 'batchRestore'> {
  const writes: Writes = { ...context, datastore: name, secondaries: secondariesOf(context, name) };
  const prepare = (cell: NewCell, prefix: string): PlacedCell => {
    const address = parseAddress(cell, prefix);
    const encoded = encodeBody(cell.body, `${prefix}body`);
    return { ...address, body: cell.body, encoded, shard: shardOf(address.row_key, shards) };
  };

  const prepareRestored = (cell: RestoredCell, prefix: string): PlacedCell => ({
    ...prepare(cell, prefix),
    stored_at: parseTime(cell.created_at, `${prefix}created_at`),
  });

  async function write(
    prepared: readonly PlacedCell[],
    field: (position: number) => string,
  ): Promise<readonly PutResult[]> {
    const topology = await requireDatastore(context.topology, name);
    const { homes } = topology;
    const groupOf = ({ shard }: PlacedCell): string => homeOf(topology, shard).group;
    const [first] = prepared;
    if (!first) return [];
    checkBounds(prepared, await context.groups.client(groupOf(first)), field);
    return settleRepeats(prepared, (some) =>
      inParts(withNewWriter(some), groupOf, (group, ofGroup) => admitToGroup({ ...writes, homes }, group, ofGroup)),
    );
  }

  function batchOf<Given extends NewCell>(prepareOne: (cell: Given, prefix: string) => PlacedCell) {
    return async (cells: readonly Given[]): Promise<readonly PutResult[]> =>
      write(parseBatch(cells, 'cells', prepareOne), (position) => `cells[${position}].body`);
  }

  return {
    async put(cell) {
      const [result] = await write([prepare(cell, '')], () => 'body');
      return result as PutResult;
    },

    batchPut: batchOf(prepare),

    transact: transactions(writes, (cell, prefix) =>
      cell.created_at === undefined ? prepare(cell, prefix) : prepareRestored(cell as RestoredCell, prefix),
    ),

    batchRestore: batchOf(prepareRestored),
  };
}

/** Writes erasures, whose names no application can use: as any write, but for the check of the name. */
export async function reservedWrites(
  context: StoreContext,
  name: string,
): Promise<(cell: NewCell) => Promise<PutResult>> {
  const { shards } = await requireDatastore(context.topology, name);
  const writes: Writes = { ...context, datastore: name, secondaries: secondariesOf(context, name) };
  return async (cell) => {
    const shard = shardOf(cell.row_key, shards);
    const topology = await requireDatastore(context.topology, name);
    const { group } = homeOf(topology, shard);
    const prepared = withNewWriter([{ ...cell, encoded: encodeBody(cell.body), shard }]);
    const { homes } = topology;
    const [result] = (await admitToGroup({ ...writes, homes }, group, prepared)) as readonly [PutResult];
    return result;
  };
}
