import { decodeSized, JSON_GROWTH } from '../body/codec.ts';
import { jsonBytes } from '../body/measure.ts';
import { markedPlace } from '../body/transaction-mark.ts';
import { LIMITS, type Json } from '../cell.ts';
import { invalidField } from '../errors.ts';
import { selectKept, toBufferRow, type BufferRow, type KeptState } from '../sql/statements/select-buffered.ts';
import { answerRoom } from '../access/decode.ts';
import type { Sized } from '../contract/answer-room.ts';
import type { StoreContext } from '../access/context.ts';
import type { BufferConflict, BufferOperations } from '../api/buffer.ts';
import { onWriter, pageBytes } from '../access/ask-parts.ts';

interface KeptPage {
  readonly writes: readonly BufferConflict[];
  readonly next: string | null;
}

/** Lists a page of kept writes, group by group; a group that is down is an error, not a gap. */
export async function listKept(
  { groups }: Pick<StoreContext, 'groups'>,
  datastore: string,
  state: KeptState,
  { limit = LIMITS.defaultLimit, after }: NonNullable<Parameters<BufferOperations['listBufferConflicts']>[0]>,
): Promise<KeptPage> {
  const start = after === undefined ? undefined : parseKeptId(after, 'after');
  const writes: BufferConflict[] = [];
  const room = answerRoom();
  const goOn = (): KeptPage => ({ writes, next: writes.at(-1)?.id ?? null });
  for (const group of [...(await groups.names())].sort()) {
    if (start && group < start.group) continue;
    const wanted = limit + 1 - writes.length;
    const from = start?.group === group ? start.id : 0;
    const page = pageBytes(await groups.client(group));
    const statement = selectKept(state, datastore, from, wanted, page);
    const rows = await onWriter(groups, group, (client) => client.select(statement, 'writer'));
    let bytes = 0;
    for (const row of rows.map(toBufferRow)) {
      const { write, size } = toWrite(group, row);
      if (writes.length === limit || !room.take(size, writes.length === 0)) return goOn();
      writes.push(write);
      bytes += row.body.length;
    }
    // Cut by its bytes: the next page goes on in this group.
    if (rows.length < wanted && bytes >= page) return goOn();
  }
  return { writes, next: null };
}

/** Bytes of a write in an answer besides body and column name. */
const ENVELOPE_BYTES = 300;

function toWrite(group: string, row: BufferRow): { readonly write: BufferConflict; readonly size: Sized } {
  const { id, row_key, column_name, ref_key, shard, created_at } = row;
  let [body, plainBytes]: [Json, number] = [null, 0];
  try {
    ({ body, plainBytes } = decodeSized(row.body));
  } catch {
    // A damaged one keeps its place.
  }
  const transaction = markedPlace(row.body);
  const around = ENVELOPE_BYTES + Buffer.byteLength(column_name) * JSON_GROWTH;
  return {
    write: {
      id: `${group}/${id}`,
      row_key,
      column_name,
      ref_key,
      body,
      shard,
      created_at,
      ...(transaction && { transaction }),
    },
    size: { atMostBytes: around + (plainBytes + 4) * JSON_GROWTH, measure: () => around + jsonBytes(body) },
  };
}

export interface KeptId {
  readonly group: string;
  readonly id: number;
}

function parseKeptId(value: unknown, field: string): KeptId {
  const [, group, digits] = /^([^/]{1,64})\/(\d{1,15})$/.exec(typeof value === 'string' ? value : '') ?? [];
  if (group === undefined || digits === undefined) throw invalidField(field, 'an id like group-1/17', value);
  return { group, id: Number(digits) };
}

/** Parses the ids of existing groups. Throws `invalid_field`. */
export function parseKeptIds(ids: readonly string[], names: readonly string[]): readonly KeptId[] {
  return ids.map((id, position) => {
    const parsed = parseKeptId(id, `ids[${position}]`);
    if (!names.includes(parsed.group))
      throw invalidField(`ids[${position}]`, `an id of one of the groups ${names.join(', ')}`, id);
    return parsed;
  });
}
