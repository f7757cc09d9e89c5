import { parseKey, parseBatch, parseRead, shardOf } from '../address.ts';
import type { CellKey } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { StoredCell } from '../sql/cell-rows.ts';
import type { ShardKey } from '../sql/statements/select-cells.ts';
import { answerRoom } from '../access/decode.ts';
import type { StoreContext } from '../access/context.ts';
import { requireDatastore } from '../access/groups.ts';
import { readWanted, wantingCells } from '../access/wanted-cells.ts';
import type { BatchItem, StoreReadOptions } from '../contract/datastore.ts';

/** Reads cells at many keys; each group is asked once, and again for what was too much at once. */
export async function readBatch(
  context: StoreContext,
  name: string,
  shards: number,
  keys: readonly CellKey[],
  options: Pick<StoreReadOptions, 'read' | 'packed'>,
): Promise<readonly BatchItem[]> {
  const read = parseRead(options.read);
  const wanted = parseBatch(keys, 'keys', parseKey).map((key): ShardKey => ({
    key,
    shard: shardOf(key.row_key, shards),
  }));
  const topology = await requireDatastore(context.topology, name);
  const cells = await readWanted(wantingCells({ context, topology, read, packed: options.packed }), wanted);
  const room = answerRoom();
  let isRefused = false;

  function itemAt(position: number): BatchItem {
    const answer = cells.answer(position);
    if (answer.error) return { error: answer.error };
    const [stored] = answer.cells;
    if (!stored) return null;
    // After an item without room only cells that fit in any case are decoded.
    if (cells.isLeftOut(position) || (isRefused && cells.atMostBytes(stored) > room.left()))
      return { error: noRoomFor(stored) };
    const decoded = cells.decode(stored);
    if (decoded.cell.error) return { error: decoded.cell.error };
    if (room.take(decoded)) return { ...decoded.cell, served_by: answer.served_by, stale: answer.stale };
    isRefused = true;
    return { error: noRoomFor(stored) };
  }

  const items: BatchItem[] = [];
  for (const position of wanted.keys()) {
    if (cells.isLeftOut(position)) await cells.complete({ from: position, to: position + 1 }, room.left());
    items.push(itemAt(position));
  }
  return items;
}

function noRoomFor({ row_key, column_name, ref_key }: StoredCell): SchemalessError {
  return new SchemalessError(
    'answer_too_large',
    "the batch's answer has no room for this cell: ask for it alone, or with fewer",
    { address: { row_key, column_name, ref_key } },
  );
}
