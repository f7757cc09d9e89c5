import type { Role } from '../../../shared/cell.ts';
import type { ShardDigest } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';

export interface DigestLogOptions {
  /** Up to which added id. @default the last one, when it is asked for */
  readonly at?: number | undefined;
  /** @default 'writer' */
  readonly read?: Role | undefined;
}

/**
 * The digest of a shard's log up to a place, however long the log is: calls `client.digest` until it is there.
 *
 * @throws SchemalessError `unavailable` where who answers does not show the place: it is behind, or the log ends before;
 *   what `client.digest` throws
 */
export async function digestLog(
  client: Pick<SchemalessClient, 'digest'>,
  shard: number,
  { at, read }: DigestLogOptions = {},
): Promise<ShardDigest> {
  let known: ShardDigest | undefined;
  for (;;) {
    const reached = await client.digest({ shard, at, after: known?.at, digest: known?.digest }, { read });
    if (!reached.more) return reached;
    if (reached.at === (known?.at ?? 0))
      throw new SchemalessError('unavailable', `shard ${shard} shows no cell behind ${reached.at}`);
    known = reached;
  }
}
