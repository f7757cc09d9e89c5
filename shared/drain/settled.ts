import type { SchemalessError } from '../errors.ts';
import type { SqlError } from '../sql/client.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import type { RefusedRow } from './append-rows.ts';
import type { ShardRows } from './ask-nodes.ts';
import type { FaultyRow } from './open-rows.ts';

export interface Settled {
  readonly drained: WaitingRow[];
  readonly conflicts: WaitingRow[];
  readonly erased: WaitingRow[];
  readonly faulty: FaultyRow[];
  readonly refused: RefusedRow[];
  /** Shards that failed; their rows are tried later. */
  readonly failed: Map<ShardRows, SqlError | SchemalessError>;
  appended: number;
}
