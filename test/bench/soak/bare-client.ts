import { createPool, type Pool } from 'mysql2/promise';
import type { GroupAccess } from '../../support/store-access.ts';
import { openLoop } from '../../support/pace.ts';
import { Latencies } from '../growth/latencies.ts';
import { median } from '../side-by-side.ts';

/** What a bare client sees of the servers and the machine, while something else is measured on them. */
export interface BareClient extends AsyncDisposable {
  /** p99 in milliseconds since this was asked last: of spans of five seconds the median, as of the store's. */
  p99(): number;
}

/** Enough for a p99 of five seconds, and a few hundredths of a core. */
const A_SECOND = 100;
/** One of so many statements is an insert, the others read. */
const INSERT_EVERY = 4;
const SPAN_MS = 5000;
const BODY = Buffer.alloc(700, 'x');
const TABLE = 'bare.cell';

/**
 * Inserts into a plain table of each group, and reads by its key, straight through mysql2, from the process that asks.
 * The table is its own: what makes the store's tables, statements or process slower does not make this one slower.
 */
export async function openBareClient(groups: readonly GroupAccess[]): Promise<BareClient> {
  const pools = groups.map(({ writer, user, password }) =>
    createPool({ host: writer.host, port: writer.port, user, password, connectionLimit: 4 }),
  );
  await Promise.all(
    pools.map(async (pool) => {
      await pool.query('CREATE DATABASE IF NOT EXISTS bare');
      await pool.query(
        `CREATE TABLE IF NOT EXISTS ${TABLE} (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, body VARBINARY(1000) NOT NULL)`,
      );
      await pool.query(`INSERT INTO ${TABLE} (body) VALUES (?)`, [BODY]);
    }),
  );
  const spans: number[] = [];
  let latencies = new Latencies();
  const end = new AbortController();
  let sent = 0;

  async function once(pool: Pool, isInsert: boolean, dueAt: number): Promise<void> {
    const into = latencies;
    if (isInsert) await pool.query(`INSERT INTO ${TABLE} (body) VALUES (?)`, [BODY]);
    else await pool.query(`SELECT body FROM ${TABLE} WHERE id = 1`);
    into.note(performance.now() - dueAt);
  }

  const working = (async () => {
    while (!end.signal.aborted) {
      const underWay: Promise<void>[] = [];
      await openLoop({
        perSecond: A_SECOND,
        milliseconds: SPAN_MS,
        send(dueAt) {
          sent += 1;
          const pool = pools[Math.floor(sent / INSERT_EVERY) % pools.length];
          // One that fails says nothing of how long it would have taken.
          if (pool && !end.signal.aborted)
            underWay.push(once(pool, sent % INSERT_EVERY === 0, dueAt).catch(() => undefined));
        },
      });
      await Promise.all(underWay);
      spans.push(latencies.percentile(99));
      latencies = new Latencies();
    }
  })();

  return {
    p99: () => median(spans.splice(0)),
    async [Symbol.asyncDispose]() {
      end.abort();
      await working;
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}
