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

/** No page begins later, and only its first cell is decoded: bodies may inflate a thousandfold. */
const READING_MS = 4000;

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
      let head = 0;
      const roles = new Set<Role>();
      do {
        // At least one, which brings the head.
        const limit = Math.max(1, Math.min(LIMITS.logCells, (at ?? Infinity) - place));
        const statement = selectLog({ datastore: name }, [{ shard, after: place }], limit, bytes);
        const { role, rows } = await context.admit(group, () => askEither(client, group, read, statement));
        roles.add(role);
        const [page = { cells: [], head: 0 }] = byItem(rows, 1);
        head = page.head;
        const to = (at ??= head);
        const inOrder = page.cells.toSorted((one, other) => one.added_id - other.added_id);
        const before = place;
        for (const stored of untilHole(inOrder, place)) {
          if (stored.added_id > to || (place > before && performance.now() >= end)) break;
          digest = nextDigest(digest, decodeWhole(stored));
          place = stored.added_id;
        }
        if (place === before) break;
      } while (place < at && performance.now() < end);
      const more = place < at || head < place;
      const served_by: Role = roles.has('writer') ? 'writer' : 'reader';
      return { shard, at: place, digest, more, served_by, stale: roles.has('reader') };
    },
  };
}

function decodeWhole(stored: StoredCell): Cell {
  const cell = decodeCell(stored);
  if (cell.erased !== true || cell.body_sha256 !== undefined) return cell;
  const { shard, added_id, row_key, column_name, ref_key } = stored;
  throw new SchemalessError(
    'undecodable_body',
    `the body of ${row_key}/${column_name}/${ref_key} (shard ${shard}, added id ${added_id}) was erased, and could not be decoded before: the log has no digest from there on`,
    { address: { row_key, column_name, ref_key }, more: { shard, added_id } },
  );
}
