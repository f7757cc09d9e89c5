import { encodeBody } from '../../shared/body/codec.ts';
import { stringifyJson } from '../../shared/body/json.ts';
import type { NewCell } from '../../shared/cell.ts';

export interface BodySizes {
  /** Bytes of JSON, on average. */
  readonly json: number;
  /** Bytes as stored, on average. */
  readonly stored: number;
}

/** Enough for an average that no longer moves; encoding a million cells again would take minutes. */
const MEASURED = 5000;

export function bodySizes(cells: Iterable<NewCell>): BodySizes {
  let count = 0;
  let json = 0;
  let stored = 0;
  for (const { body } of cells) {
    if (count === MEASURED) break;
    count += 1;
    json += Buffer.byteLength(stringifyJson(body));
    stored += encodeBody(body).length;
  }
  return { json: json / Math.max(1, count), stored: stored / Math.max(1, count) };
}
