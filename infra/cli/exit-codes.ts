/** Exit codes; the table in `infra/docs/cli.md` is made from this list. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'It was done; a write was stored, stored before, or buffered' },
  internal: { code: 1, meaning: 'An error that should not happen, or one that this version does not know' },
  usage: { code: 2, meaning: 'The command, or the value of a field, cannot be used: mend it. Nothing was changed' },
  notFound: {
    code: 3,
    meaning: 'No such cell, or it was erased; no such datastore, shard, index, trigger, move, erasure or profile',
  },
  conflict: {
    code: 4,
    meaning: 'Another body is at the address, or it was erased: cells never change, nor come back. Nothing was changed',
  },
  unavailable: { code: 5, meaning: 'Not confirmed, or not all of it: repeat it as it is, which is safe' },
  denied: { code: 6, meaning: 'The API refused the signature, or there was none to send' },
  rejects: {
    code: 7,
    meaning:
      'Of an import: what the file of rejects lists is not stored; all else is, unless it says that they were too many. Of a comparison: some lines are no cells',
  },
  differs: { code: 8, meaning: 'Of a comparison: the datastore does not have what the file says; the output lists it' },
  interrupted: { code: 130, meaning: 'Ctrl-C: called again it goes on where it was' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type Ending = keyof typeof EXIT_CODES;

export function exitCodeTable(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  return ['| exit code | meaning |', '|---|---|', ...rows].join('\n');
}
