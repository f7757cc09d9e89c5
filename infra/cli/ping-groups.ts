import { randomUUID } from 'node:crypto';
import type { Role } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { shardOf } from '../../shared/address.ts';

export interface Pinged {
  readonly group: string;
  readonly role: Role;
  readonly reads: number;
  readonly failed: number;
  /** Milliseconds; null where none was answered. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly served_by: readonly Role[];
  readonly error?: string;
}

const COLUMN = 'schemaless-ping';
const ROLES: readonly Role[] = ['writer', 'reader'];

type Reading = Pick<Datastore, 'heads' | 'getLatest'>;

/** Reads cells that do not exist, one after the other, for each group and role. */
export async function* pingGroups(client: Reading, count: number): AsyncGenerator<Pinged> {
  const heads = await client.heads();
  const groups = [...new Set(heads.map(({ group }) => group))].sort();
  const groupOf = new Map(heads.map(({ shard, group }) => [shard, group]));
  for (const group of groups) {
    const rowKey = (): string => {
      for (;;) {
        const key = randomUUID();
        if (groupOf.get(shardOf(key, heads.length)) === group) return key;
      }
    };
    for (const role of ROLES) yield { group, role, ...(await pingRole(client, { role, rowKey, count })) };
  }
}

interface Asked {
  readonly role: Role;
  readonly rowKey: () => string;
  readonly count: number;
}

async function pingRole(client: Reading, { role, rowKey, count }: Asked): Promise<Omit<Pinged, 'group' | 'role'>> {
  const times: number[] = [];
  const served = new Set<Role>();
  let [failed, error]: [number, string | undefined] = [0, undefined];
  for (let read = 0; read <= count; read += 1) {
    const row_key = rowKey();
    const began = performance.now();
    try {
      const { served_by } = await client.getLatest({ row_key, column_name: COLUMN }, { read: role });
      // The first opens connections, here and there.
      if (read > 0) times.push(performance.now() - began);
      served.add(served_by);
    } catch (cause) {
      if (!(cause instanceof SchemalessError)) throw cause;
      failed += read > 0 ? 1 : 0;
      error = cause.message;
    }
  }
  times.sort((one, other) => one - other);
  return {
    reads: times.length,
    failed,
    p50_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
    served_by: [...served].sort(),
    ...(error !== undefined && { error }),
  };
}

export function quantile(sorted: readonly number[], share: number): number | null {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  return value === undefined ? null : Math.round(value * 1000) / 1000;
}
