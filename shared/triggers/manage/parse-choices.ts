import { parseCount } from '../../address.ts';
import { LIMITS } from '../../cell.ts';
import { invalidField, missingField, unknownField } from '../../errors.ts';
import type { CellLocation, ParkedChoice, RewindTo } from '../../contract/trigger-operations.ts';
import { parseTime } from '../../time.ts';

const REWIND = '"start", "now", a time with zone that has passed, or an object of added ids by shard';
const CHOICE = `"*" for all, or an array of 1 to ${LIMITS.listCells} cells`;
const REASON_CHARACTERS = 500;

/**
 * Parses a rewind of the API: `"start"`, `"now"`, `"2026-01-31T08:00:00Z"`, `{"233": 17}`. It does not check whether
 * the datastore has the shards and cells. Throws SchemalessError `missing_field`, `invalid_field`.
 */
export function parseRewind(to: unknown): RewindTo {
  if (to === undefined) throw missingField('to', REWIND);
  if (to === 'start' || to === 'now') return to;
  if (typeof to === 'string') return { since: parsePassed(to) };
  if (typeof to !== 'object' || to === null || Array.isArray(to)) throw invalidField('to', REWIND, to);
  const entries = Object.entries(to);
  if (entries.length === 0) throw invalidField('to', 'at least one shard', 'none');
  const shards = entries.map(([shard, addedId]): [number, number] => {
    if (!/^(?:0|[1-9]\d{0,6})$/.test(shard)) throw invalidField(`to.${shard}`, 'the number of a shard', shard);
    return [
      Number(shard),
      parseCount(addedId, `to.${shard}`, 0, Number.MAX_SAFE_INTEGER, 'an added id, 0 to the last of the log'),
    ];
  });
  return { shards: new Map(shards) };
}

/** A future time, as from a mistyped year, would pass over cells that are not written yet. */
export function parsePassed(to: string): string {
  let since: string;
  try {
    since = parseTime(to, 'to');
  } catch {
    throw invalidField('to', REWIND, to);
  }
  if (Date.parse(since) > Date.now()) throw invalidField('to', REWIND, to);
  return since;
}

export function parseDryRun(dryRun: unknown): boolean {
  if (dryRun === undefined) return false;
  if (typeof dryRun !== 'boolean') throw invalidField('dry_run', 'true or false', dryRun);
  return dryRun;
}

/** No choice means none: all of them go only by `"*"`. */
export function parseChoice(cells: unknown): ParkedChoice {
  if (cells === undefined) throw missingField('cells', CHOICE);
  if (cells === '*') return '*';
  if (!Array.isArray(cells)) throw invalidField('cells', CHOICE, cells);
  if (cells.length === 0 || cells.length > LIMITS.listCells) throw invalidField('cells', CHOICE, cells.length);
  return cells.map((cell: unknown, position) => parseLocation(cell, `cells[${position}]`));
}

export function parseReason(reason: unknown): string | undefined {
  if (reason === undefined) return undefined;
  if (typeof reason !== 'string' || reason.length === 0 || reason.length > REASON_CHARACTERS)
    throw invalidField('reason', `text of 1 to ${REASON_CHARACTERS} characters`, reason);
  return reason;
}

function parseLocation(cell: unknown, field: string): CellLocation {
  if (typeof cell !== 'object' || cell === null || Array.isArray(cell))
    throw invalidField(field, 'an object with shard, added_id', cell);
  const { shard, added_id, ...others } = cell as Readonly<Record<string, unknown>>;
  const [stranger] = Object.keys(others);
  if (stranger !== undefined) throw unknownField(`${field}.${stranger}`, ['shard', 'added_id']);
  return {
    shard: parseCount(shard, `${field}.shard`, 0, Number.MAX_SAFE_INTEGER, 'the number of a shard'),
    added_id: parseCount(added_id, `${field}.added_id`, 1, Number.MAX_SAFE_INTEGER, 'an added id, 1 to 2^53-1'),
  };
}
