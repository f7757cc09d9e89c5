import { decodeBody } from '../body/codec.ts';
import { equalJson } from '../body/equal.ts';
import { openRows, type OpenRow } from './open-rows.ts';
import { tableOf } from '../sql/statements/select-unanswered.ts';
import type { Copy } from './unanswered-copies.ts';

export interface CopiedBody {
  readonly copies: readonly [Copy, ...Copy[]];
}

/** Returns the different bodies among hints of one address, at most two. Equal values are one body. */
export async function waitingBodies(copies: readonly Copy[]): Promise<readonly CopiedBody[]> {
  const byHash = [...Map.groupBy(copies, ({ row }) => Buffer.from(row.body_hash).toString('hex')).values()] as [
    Copy,
    ...Copy[],
  ][];
  if (byHash.length < 2) return byHash.map((ofHash) => ({ copies: ofHash }));
  const bodies: { readonly copies: [Copy, ...Copy[]]; readonly opened: OpenRow | undefined }[] = [];
  for (const ofHash of byHash) {
    const opened = await openOne(ofHash);
    // Unreadable bytes equal nothing.
    const equal = bodies.find((body) => body.opened && opened && isEqual(body.opened, opened));
    if (equal) equal.copies.push(...ofHash);
    else if (bodies.push({ copies: ofHash, opened }) === 2) break;
  }
  return bodies;
}

export async function openOne(copies: readonly Copy[]): Promise<OpenRow | undefined> {
  for (const { holder, row } of copies) {
    for await (const page of openRows(holder.client, [row], tableOf(holder.kind))) {
      const [opened] = page.rows;
      if (opened) return opened;
    }
  }
  return undefined;
}

function isEqual(one: OpenRow, other: OpenRow): boolean {
  return equalJson(decodeBody(one.encoded), decodeBody(other.encoded));
}
