import { decodeBody } from '../body/codec.ts';
import { equalJson } from '../body/equal.ts';
import { groupBy } from '../store/context.ts';
import type { Copy } from './copies-by-address.ts';
import type { WaitingBody } from './decide.ts';
import { openRows, type OpenRow } from './open-rows.ts';

/** A body of which copies wait for an address. */
export interface CopiedBody extends WaitingBody {
  readonly copies: readonly Copy[];
}

/** The different bodies among the unanswered copies of one address: those that are equal, however they are encoded, are one. */
export async function waitingBodies(copies: readonly Copy[]): Promise<readonly CopiedBody[]> {
  const byHash = [...groupBy(copies, ({ row }) => Buffer.from(row.body_hash).toString('hex')).values()];
  if (byHash.length < 2) return byHash.map((ofHash) => ({ answered: false, copies: ofHash }));
  const bodies: { readonly answered: false; readonly copies: Copy[]; readonly opened: OpenRow | undefined }[] = [];
  for (const ofHash of byHash) {
    const opened = await openOne(ofHash);
    // Bytes that cannot be read are equal to nothing.
    const equal = bodies.find((body) => body.opened && opened && isEqual(body.opened, opened));
    if (equal) equal.copies.push(...ofHash);
    else bodies.push({ answered: false, copies: [...ofHash], opened });
  }
  return bodies;
}

/** The first copy that can be used; undefined where there is none, since all are damaged or gone. */
export async function openOne(copies: readonly Copy[]): Promise<OpenRow | undefined> {
  for (const { holder, row } of copies) {
    for await (const page of openRows(holder.client, [row])) {
      const [opened] = page.rows;
      if (opened) return opened;
    }
  }
  return undefined;
}

function isEqual(one: OpenRow, other: OpenRow): boolean {
  return equalJson(decodeBody(one.encoded), decodeBody(other.encoded));
}
