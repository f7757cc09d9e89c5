import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { shardOf } from '../../../shared/address.ts';
import type { Role } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import { wholeNumberFlag } from '../flags.ts';
import type { Column } from '../output/output.ts';

export function ping(): Command {
  return command('ping')
    .description('measure the latency of reads, for each group and role')
    .addOption(
      wholeNumberFlag('-n, --count <reads>', 'for each group and role, one after the other', 1, 100_000).default(20),
    )
    .examples(['schemaless ping', 'twenty reads of each'], ['schemaless ping -n 1000 --format json', 'for a program'])
    .notes(`Measures round trips for a missing cell of a row on that group: this program, the network, the API, its function, and one
statement on the database. The first read of each is not counted. SERVED BY names the role that answered: the writer
if there is no reader, or it is unreachable.`)
    .run<[], { readonly count: number }>(async ({ output, connect, note }, _none, { count }) => {
      const client = await connect({ attempts: 1 });
      let failed = 0;
      const pages = async function* pages(): AsyncGenerator<readonly Pinged[]> {
        for await (const one of pingGroups(client, count)) {
          failed += one.failed;
          yield [one];
        }
      };
      await output.list(pages(), COLUMNS);
      if (output.format === 'table') note('round trips for missing cells, one after the other');
      return failed > 0 ? 'unavailable' : 'ok';
    });
}

const COLUMNS: readonly Column<Pinged>[] = [
  { header: 'GROUP', value: ({ group }) => group, width: 10 },
  { header: 'ROLE', value: ({ role }) => role },
  { header: 'READS', value: ({ reads }) => reads, width: 6 },
  { header: 'FAILED', value: ({ failed }) => failed },
  { header: 'P50', value: ({ p50_ms }) => milliseconds(p50_ms), width: 9 },
  { header: 'P99', value: ({ p99_ms }) => milliseconds(p99_ms), width: 9 },
  { header: 'SERVED BY', value: ({ served_by }) => served_by.join(', ') },
  { header: 'ERROR', value: ({ error }) => error ?? '' },
];

function milliseconds(value: number | null): string | null {
  return value === null ? null : `${value.toFixed(1)} ms`;
}

interface Pinged {
  readonly group: string;
  readonly role: Role;
  readonly reads: number;
  readonly failed: number;
  /** Milliseconds; null without an answer. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly served_by: readonly Role[];
  readonly error?: string;
}

const COLUMN = 'schemaless-ping';
const ROLES: readonly Role[] = ['writer', 'reader'];

type Reading = Pick<Datastore, 'heads' | 'getLatest'>;

/** Reads cells that do not exist, one after the other, for each group and role. */
async function* pingGroups(client: Reading, count: number): AsyncGenerator<Pinged> {
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
    for (const role of ROLES) yield { group, role, ...(await pingRole(client, role, rowKey, count)) };
  }
}

async function pingRole(
  client: Reading,
  role: Role,
  rowKey: () => string,
  count: number,
): Promise<Omit<Pinged, 'group' | 'role'>> {
  const times: number[] = [];
  const served = new Set<Role>();
  let [failed, error]: [number, string | undefined] = [0, undefined];
  for (let read = 0; read <= count; read += 1) {
    const row_key = rowKey();
    const began = performance.now();
    try {
      const { served_by } = await client.getLatest({ row_key, column_name: COLUMN }, { read: role });
      // The first read opens connections.
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
