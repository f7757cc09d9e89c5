import { parseJson } from '../../shared/body/json.ts';
import { PackedBody } from '../../shared/body/packed-body.ts';
import type { Answer } from './answer.ts';

/** A request with this header gets bodies left out (`hidden`), or logs that a person asked for them (`shown`). */
export const BODIES = { header: 'x-schemaless-bodies', hidden: 'hidden', shown: 'shown' } as const;

/** Cells of any valid depth, nested in answers within an answer. */
const WRITTEN_HERE = { maxDepth: Number.POSITIVE_INFINITY };

/** Returns the answer without bodies and index fields: each is null, with `hidden` next to it. */
export function withoutBodies(answer: Answer): Answer {
  const { json, packed: _, made, ...others } = answer;
  // An encoded body has no cells: a page, or the API's description.
  if (made) return answer;
  return { ...others, body: hidden(json ? parseJson(json.text, WRITTEN_HERE) : answer.body) };
}

type Members = Readonly<Record<string, unknown>>;

/** The members next to the body of a cell, as opposed to an answer within an answer. */
const OF_CELLS = ['row_key', 'message_id'];

function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden);
  if (value instanceof PackedBody) return hidden(value.toJSON());
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Members;
  const isCell = 'body' in members && OF_CELLS.some((name) => name in members);
  const isEntry = 'row_key' in members && 'fields' in members;
  if (isCell) return { ...members, body: null, ...(members['body'] !== null && { hidden: true }) };
  const within = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, hidden(member)]));
  return isEntry ? { ...within, fields: withoutValues(members['fields']), hidden: true } : within;
}

function withoutValues(fields: unknown): object {
  return Object.fromEntries(Object.keys(Object(fields)).map((name) => [name, null]));
}
