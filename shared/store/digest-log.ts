import { parseDigestRange, parseRead } from '../address.ts';
import { EMPTY_DIGEST, nextDigest } from '../body/log-digest.ts';
import { LIMITS, type Cell, type Role } from '../cell.ts';
import { askEither, pageBytes } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { decodeCell } from '../access/decode.ts';
import { homeOf, requireDatastore } from '../access/groups.ts';
import { SchemalessError } from '../errors.ts';
import type { Datastore, ShardDigest } from '../contract/datastore.ts';
import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import { selectLog } from '../sql/statements/select-log.ts';
import { untilHole } from './read-log.ts';

/** No page is begun later: an answer is to come well within the time that a gateway waits. */
const READING_MS = 4000;

/** The digests of shards' logs. */
export function digestReads(context: StoreContext, name: string, shards: number): Pick<Datastore, 'digest'> {
  return {
    async digest(wanted, options = {}): Promise<ShardDigest> {
      const range = parseDigestRange(wanted, shards);
      const { shard } = range;
      const read = parseRead(options.read);
      const { group } = homeOf(await requireDatastore(context.topology, name), shard);
      const client = await context.groups.client(group);
      const bytes = pageBytes(client);
      const end = performance.now() + READING_MS;
      let { at, after: place, digest = EMPTY_DIGEST } = range;
      let served_by: Role = 'writer';
      do {
        const limit = Math.min(LIMITS.logCells, (at ?? Infinity) - place);
        if (limit === 0) break;
        const statement = selectLog(name, [{ shard, after: place }], limit, bytes);
        const { role, rows } = await context.admit(group, () => askEither(client, group, read, statement));
        const [{ cells, head } = { cells: [], head: 0 }] = byItem(rows, 1);
        if (role === 'reader') served_by = role;
        at ??= Math.max(head, place);
        const next = untilHole(
          cells.toSorted((one, other) => one.added_id - other.added_id),
          place,
        );
        if (next.length === 0) break;
        for (const stored of next) digest = nextDigest(digest, decodeWhole(stored));
        place += next.length;
      } while (place < at && performance.now() < end);
      return { shard, at: place, digest, more: place < (at ?? place), served_by, stale: served_by === 'reader' };
    },
  };
}

/** One at a time: bodies may deflate a thousandfold. Throws `undecodable_body`. */
function decodeWhole(stored: StoredCell): Cell {
  if (stored.body !== null) return decodeCell(stored);
  const { shard, added_id, row_key, column_name, ref_key } = stored;
  throw new SchemalessError(
    'undecodable_body',
    `the body of ${row_key}/${column_name}/${ref_key} (shard ${shard}, added id ${added_id}) was erased: the log has no digest from there on`,
    { address: { row_key, column_name, ref_key }, more: { shard, added_id } },
  );
}
