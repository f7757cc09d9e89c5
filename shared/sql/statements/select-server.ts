import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';

interface AnsweringServer {
  readonly id: string;
  readonly writable: boolean;
}

export function selectServer(): Statement {
  return { sql: 'SELECT @@server_id, @@read_only', parameters: [] };
}

export function toServer([row]: readonly SqlRow[]): AnsweringServer {
  return { id: String(row?.[0]), writable: toNumber(row?.[1]) === 0 };
}
