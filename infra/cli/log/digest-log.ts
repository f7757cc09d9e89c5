import type { Role } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';

export interface DigestWish {
  readonly shard: number;
  readonly at: number;
  readonly read?: Role | undefined;
}

export interface LogDigest {
  /** As far as the log goes, where it ends before the place that was asked for. */
  readonly at: number;
  readonly digest: string;
}

/** Returns a log's digest up to an added id. Throws `unavailable` if the reader asked for is behind or silent. */
export async function digestLog(
  client: Pick<SchemalessClient, 'digest'>,
  { shard, at, read }: DigestWish,
): Promise<LogDigest> {
  let known: LogDigest | undefined;
  for (;;) {
    const reached = await client.digest({ shard, at, after: known?.at, digest: known?.digest }, { read });
    if (read === 'reader' && reached.served_by !== 'reader')
      throw new SchemalessError('unavailable', `no reader has answered for shard ${shard}`);
    if (!reached.more) return reached;
    if (reached.at === (known?.at ?? 0)) {
      if (!reached.stale) return reached;
      throw new SchemalessError('unavailable', `the reader of shard ${shard} shows no cell behind ${reached.at}`);
    }
    known = reached;
  }
}
