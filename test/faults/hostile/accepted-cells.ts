import { readExact, type ExactJson } from './exact-json.ts';
import { memberText } from './judge.ts';
import type { HostileRequest, HttpAnswer } from './request.ts';

/** A cell that was accepted, as it has to read back. */
export interface AcceptedCell {
  readonly row_key: string;
  readonly column_name: string;
  /** As the request wrote it. */
  readonly ref_key: string;
  readonly body: string;
}

/** Every cell that was accepted, by its address. */
export type AcceptedCells = Map<string, AcceptedCell>;

/** Takes down what an answer says was accepted. Returns how many cells it says wrong things of. */
export function noteAccepted(cells: AcceptedCells, request: HostileRequest, answer: HttpAnswer): number {
  if (answer.status < 200 || answer.status >= 300 || request.body === undefined) return 0;
  if (request.method === 'PUT') {
    const said = readExact(answer.text);
    return note(cells, memberText(said, 'outcome'), cellOf(said, readExact(request.body.toString())));
  }
  if (!/\/batch-(?:put|restore)$/u.test(request.target)) return 0;
  const results = readExact(answer.text).members?.get('results')?.items ?? [];
  const sent = readExact(request.body.toString()).members?.get('cells')?.items ?? [];
  return sent.reduce(
    (wrong, cell, place) =>
      wrong + note(cells, memberText(results[place], 'outcome'), cellOf(cell, cell.members?.get('body'))),
    0,
  );
}

/** Of an address and a body, each where it stands. */
export function cellOf(address: ExactJson, body: ExactJson | undefined): AcceptedCell {
  return {
    row_key: memberText(address, 'row_key').toLowerCase(),
    column_name: memberText(address, 'column_name'),
    ref_key: address.members?.get('ref_key')?.number ?? '',
    body: body?.canonical ?? 'nothing',
  };
}

/** `1e3` and `1000` are one ref key. */
export function addressOf({ row_key, column_name, ref_key }: AcceptedCell): string {
  return `${row_key}/${Number(ref_key)}/${column_name}`;
}

function note(cells: AcceptedCells, outcome: string, cell: AcceptedCell): number {
  if (outcome === 'conflict') return 0;
  const address = addressOf(cell);
  const known = cells.has(address);
  if (!known) cells.set(address, cell);
  // Neither can be: stored twice, or nobody knows.
  return outcome === 'stored' ? Number(known) : Number(outcome !== 'stored_before' && outcome !== 'buffered');
}
