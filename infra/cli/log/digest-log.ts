import type { Role } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { SchemalessError } from '../../../shared/errors.ts';

export interface DigestRequest {
  readonly shard: number;
  readonly at: number;
  readonly read?: Role | undefined;
}

export interface LogDigest {
  /** The last added id, if the log ends before the requested one. */
  readonly at: number;
  readonly digest: string;
}

/** Returns a log's digest up to an added id. Throws `unavailable` if the requested reader is behind or silent. */
export async function digestLog(
  client: Pick<SchemalessClient, 'digest'>,
  { shard, at, read }: DigestRequest,
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
