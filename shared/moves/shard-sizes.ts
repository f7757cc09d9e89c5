import { askEither } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { requireDatastore } from '../access/groups.ts';
import type { ShardHead } from '../contract/datastore.ts';
import type { ShardSize, ShardSizes } from '../contract/shard-plan.ts';
import { SchemalessError } from '../errors.ts';
import { logReads } from '../store/read-log.ts';
import { selectSizes, toSizes, type StoredSize } from './statements/select-sizes.ts';

/**
 * Statistics of a log that has grown to more than so many times what they knew are of another day: its bytes are those
 * of its cells then. Below, they are nearer to the truth than their own estimate of rows.
 */
const OUTGROWN = 2;
/** No cell takes less, with its keys: of how many bytes are fewer, they are of another day. */
const LEAST_CELL_BYTES = 100;
/** Tables grow by pages, and then by many of them: smaller ones are no other size for a few cells. */
const SMALL_BYTES = 256 * 1024;

/**
 * How large the shards of a datastore are: their cells by the heads of their logs, exactly, and their bytes by what the
 * engines know, about. A group that cannot be read is an error of each of its shards.
 *
 * @throws SchemalessError `unknown_datastore`, `unavailable`
 */
export async function shardSizes(context: StoreContext, name: string): Promise<ShardSizes> {
  const { shards } = await requireDatastore(context.topology, name);
  const [groups, heads] = await Promise.all([context.groups.names(), logReads(context, name, shards).heads()]);
  const asked = [...Map.groupBy(heads, ({ group }) => group)].map(
    async ([group, ofGroup]): Promise<readonly ShardSize[]> => {
      try {
        return sized(ofGroup, await sizesOf(context, { name, group, heads: ofGroup }));
      } catch (error) {
        if (!(error instanceof SchemalessError)) throw error;
        return ofGroup.map(({ shard }) => ({ shard, group, error }));
      }
    },
  );
  const all = withoutOldBytes((await Promise.all(asked)).flat());
  return { groups, shards: all.toSorted((one, other) => one.shard - other.shard) };
}

interface OfGroup {
  readonly name: string;
  readonly group: string;
  readonly heads: readonly ShardHead[];
}

async function sizesOf(
  { groups, admit }: StoreContext,
  { name, group, heads }: OfGroup,
): Promise<ReadonlyMap<number, StoredSize>> {
  const client = await groups.client(group);
  // A server that only reads keeps no statistics from the last look.
  const { rows } = await admit(group, () => askEither(client, group, 'reader', selectSizes(name)));
  return toSizes(
    rows,
    name,
    heads.map(({ shard }) => shard),
  );
}

/** What the statistics of a group say, brought to how far its logs are by now. */
export function sized(heads: readonly ShardHead[], sizes: ReadonlyMap<number, StoredSize>): readonly ShardSize[] {
  const known = [...sizes.values()].filter(({ rows }) => rows > 0);
  const rowsKnown = known.reduce((sum, { rows }) => sum + rows, 0);
  const bytesKnown = known.reduce((sum, { bytes }) => sum + bytes, 0);
  const ofOneCell = rowsKnown === 0 ? 0 : bytesKnown / rowsKnown;
  return heads.map((head): ShardSize => {
    const { shard, group } = head;
    if (head.error) return { shard, group, error: head.error };
    const size = sizes.get(shard);
    // It went to another group between two statements.
    if (!size) return { shard, group, error: gone(shard, group) };
    const { bytes, rows } = size;
    const cells = head.head;
    if (cells <= OUTGROWN * rows) return { shard, group, bytes, cells };
    // Of a table that was empty when it was last looked at nobody knows what its cells take: as much as others.
    const each = rows > 0 ? bytes / rows : ofOneCell;
    return { shard, group, bytes: Math.max(bytes, Math.round(each * cells)), cells };
  });
}

/**
 * Sizes of all groups, without bytes of another day.
 *
 * MySQL counts rows as they come, and bytes when it looks at a table, one in some seconds: after an import, or a move,
 * it says for long that all cells are in the few pages of before. So a shard that is to take less than any cells can has
 * what its cells take elsewhere.
 */
export function withoutOldBytes(shards: readonly ShardSize[]): readonly ShardSize[] {
  const each = bytesOfACell(shards);
  return shards.map((size) => {
    if (size.error || !isOld(size)) return size;
    const wanted = Math.round(each * size.cells);
    return wanted >= SMALL_BYTES ? { ...size, bytes: wanted } : size;
  });
}

const isOld = ({ bytes, cells }: { readonly bytes: number; readonly cells: number }): boolean =>
  bytes < LEAST_CELL_BYTES * cells;

/** As shards say together that are large enough for it, and that the engine has looked at. */
function bytesOfACell(shards: readonly ShardSize[]): number {
  let [bytes, cells] = [0, 0];
  for (const size of shards) {
    if (size.error || isOld(size) || size.bytes < SMALL_BYTES) continue;
    bytes += size.bytes;
    cells += size.cells;
  }
  return cells === 0 ? LEAST_CELL_BYTES : bytes / cells;
}

function gone(shard: number, group: string): SchemalessError {
  return new SchemalessError('unavailable', `${group} does not have shard ${shard} any more: it was moved`, {
    more: { group },
  });
}
