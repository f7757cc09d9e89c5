import { randomBytes } from 'node:crypto';
import { SqlError, type SqlClient, type SqlRow } from '../../../shared/sql/client.ts';
import { withoutFingerprints } from '../../support/without-fingerprints.ts';
import { transactionsOf, withTransactions } from '../../support/wrapped-client.ts';
import { changing, NOTHING, rewording, rewordingPlans } from '../changed-clients.ts';
import { hidesYoung, hidesYounger, parksRefused, seesFirstRows, takesRefusalsForDone } from './planted-drain-bugs.ts';
import { hintsInTurn, withIds } from './planted-hint-bugs.ts';
import type { PlantedBug } from './planted-bug.ts';
import { PLANTED_TRANSACTION_BUGS } from './planted-transaction-bugs.ts';
import { planOf } from './servers/plans.ts';
import { addressOf } from './servers/tables.ts';

const FENCE = " AND log.epoch = ? AND log.state = 'open'";
const WRITER_FENCE = ' AND (log.writer_id IS NULL OR log.writer_id = @@server_id)';
/** An append that checks neither the epoch nor the state. */
const withoutFence = changing((statement, client) => {
  const { sql, parameters } = statement;
  const [before = '', ...after] = sql.split(FENCE);
  if (after.length === 0) return client.change(statement);
  return client.change({
    sql: before + after.join(FENCE),
    parameters: parameters.toSpliced(before.split('?').length - 1, 1),
  });
});

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'one-reader',
    what: 'the drain deletes a copy once one reader shows the cell',
    draining: () => (client, group) => {
      const firstReader = (): number => (group.writer === 0 ? 1 : 0);
      return {
        ...client,
        nodes: 2,
        select: (statement, target) =>
          client.select(
            statement,
            typeof target === 'object' ? { node: target.node === 0 ? group.writer : firstReader() } : target,
          ),
      };
    },
  },
  { name: 'keys-only', what: 'the drain compares addresses, not bodies', draining: comparesKeysOnly },
  {
    name: 'no-copy',
    what: 'a copy that could not be made counts as made',
    writing: changing((statement, client) =>
      client
        .change(statement)
        .catch((error: unknown) =>
          planOf(statement.sql).kind === 'buffer' && error instanceof SqlError ? NOTHING : Promise.reject(error),
        ),
    ),
  },
  { name: 'unclear-is-stored', what: 'an append with an unclear end counts as done', writing: countsUnclearAsStored },
  {
    name: 'kept-copies',
    what: 'a write that is answered 409 leaves its copies behind',
    writing: changing(async (statement, client) =>
      planOf(statement.sql).kind.includes('withdraw') ? NOTHING : client.change(statement),
    ),
  },
  { name: 'over-holes', what: 'a reader of the log steps over a hole', stopsAtHoles: false },
  {
    name: 'no-fence',
    what: 'an append asks neither for the epoch nor whether the shard is open',
    writing: withoutFence,
    draining: () => withoutFence,
  },
  {
    name: 'one-body',
    what: 'the buffer is unique by address: a second body is swallowed',
    flaws: { copiesByAddress: true },
  },
  {
    name: 'counts-twice',
    what: 'a repeated batch counts the cells that were there as stored by it',
    writing: changing(async (statement, client) => {
      const change = await client.change(statement);
      if (planOf(statement.sql).kind !== 'append') return change;
      return { ...change, affectedRows: Math.max(change.affectedRows, statement.sql.split(' UNION ALL ').length) };
    }),
  },
  {
    name: 'no-fingerprint',
    what: 'a follower takes whatever cell is at its offset for the one that was there',
    reading: withoutFingerprints,
  },
  {
    name: 'now-anew',
    what: 'each worker of a follower finds out by itself where now is, until cells were handled',
    keepsStarts: false,
  },
  {
    name: 'any-writer',
    what: 'writers append to a replica that was promoted without the last cells',
    writing: rewording((sql) => sql.replace(WRITER_FENCE, '')),
  },
  {
    name: 'numbers-anywhere',
    what: 'a replica that was promoted without the last cells numbers new ones',
    writing: rewordingPlans((sql) =>
      sql.replace(WRITER_FENCE, '').replace(' AND (writer_id IS NULL OR writer_id = @@server_id)', ''),
    ),
  },
  {
    name: 'numbers-apart',
    what: 'cells get their numbers in a commit before the one that inserts them',
    writing: numbersIsolated,
  },
  {
    name: 'opens-refused',
    what: 'a shard is opened though its server refused what was brought back',
    draining: () => takesRefusalsForDone,
  },
  {
    name: 'oldest-wins',
    what: 'of two bodies that may have been acknowledged the older one is brought back',
    draining: hidesYounger,
  },
  {
    name: 'shown-unsaid',
    what: 'the drain appends a copy without noting that it may be read from then on',
    draining: () =>
      changing(async (statement, client) =>
        planOf(statement.sql).kind === 'mark shown' ? NOTHING : client.change(statement),
      ),
  },
  {
    name: 'unclear-is-unseen',
    what: 'a write whose append may have been done is answered `buffered` as one that was not',
    writing: changing((statement, client) =>
      client.change(
        planOf(statement.sql).kind === 'answer buffered'
          ? { ...statement, parameters: statement.parameters.with(2, 0) }
          : statement,
      ),
    ),
  },
  {
    name: 'counts-again',
    what: 'an insert of a copy counts again when it is repeated after a lost answer',
    writing: changing((statement, client) => client.change(withIds(statement, () => randomBytes(8)))),
  },
  {
    name: 'one-id',
    what: 'writes of one body count as one in their hint: a writer answered 409 withdraws it for all',
    writing: changing((statement, client) => client.change(withIds(statement, () => new Uint8Array(8)))),
  },
  {
    name: 'hints-in-turn',
    what: 'a hint that is late is waited for before another group is asked to keep it',
    writing: hintsInTurn(),
  },
  {
    name: 'unknown-is-empty',
    what: 'the drain takes a datastore that it cannot find for one without shards',
    topology: (source) => ({
      ...source,
      datastore: async (name) => (await source.datastore(name)) ?? { datastore: name, shards: 0, homes: [] },
    }),
  },
  {
    name: 'former-writer',
    what: 'reads of the writer are answered by any server that the connection leads to',
    writing: (client) => ({
      ...client,
      select: (statement, target) =>
        client.select(statement, target === 'writer' && planOf(statement.sql).kind === 'cells' ? 'reader' : target),
    }),
  },
  {
    name: 'writer-alone',
    what: 'the drain deletes a copy once the writer shows the cell',
    draining: () => (client, group) => ({
      ...client,
      nodes: 1,
      select: (statement, target) =>
        client.select(statement, typeof target === 'object' ? { node: group.writer } : target),
    }),
  },
  { name: 'parks-refused', what: 'a refusal by the server sets the rows aside', draining: () => parksRefused },
  {
    name: 'by-their-clock',
    what: 'the drain tells the age of rows by the clock of their server',
    draining: () => hidesYoung,
  },
  {
    name: 'from-the-first',
    what: 'each run of the drain begins at the first row, whomever it waits for, and comes as far as its pace allows',
    draining: () => seesFirstRows,
  },
  ...PLANTED_TRANSACTION_BUGS,
];

function numbersIsolated(client: SqlClient): SqlClient {
  const { run } = transactionsOf(client);
  return withTransactions(client, async (statements) => {
    const [first, ...others] = statements;
    if (!first || planOf(first.sql).kind !== 'number') return run(statements);
    return [await client.change(first), ...(await run(others))];
  });
}

/** Believes that its append followed the last one it knows of. */
function countsUnclearAsStored(client: SqlClient): SqlClient {
  const last = new Map<number, number>();
  return changing(async (statement) => {
    const plan = planOf(statement.sql);
    if (plan.kind !== 'append') return client.change(statement);
    const shard = plan.shards[0] ?? -1;
    const cells = statement.sql.split(' UNION ALL ').length;
    try {
      const change = await client.change(statement);
      if (change.insertId > 0) last.set(shard, change.insertId);
      return change;
    } catch (error) {
      if (!(error instanceof SqlError) || error.failure !== 'unclear') throw error;
      const insertId = (last.get(shard) ?? 0) + cells;
      last.set(shard, insertId);
      return { affectedRows: cells, insertId };
    }
  })(client);
}

/** Shows the drain the hash of the waiting row itself, whatever body a node has at its address. */
function comparesKeysOnly(): (client: SqlClient) => SqlClient {
  const waiting = new Map<string, Uint8Array[]>();
  const keyOf = (row: SqlRow | readonly unknown[], at: number): string =>
    addressOf(row[at] as Uint8Array, row[at + 1] as Uint8Array, Number(row[at + 2]));
  return (client) => ({
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      const { kind } = planOf(statement.sql);
      if (kind === 'waiting') {
        for (const row of rows) waiting.delete(keyOf(row, 3));
        for (const row of rows)
          waiting.set(keyOf(row, 3), [...(waiting.get(keyOf(row, 3)) ?? []), row[6] as Uint8Array]);
      }
      if (kind !== 'body hashes' || !statement.sql.startsWith('SELECT -1 ')) return rows;
      return rows.map((row): SqlRow => {
        const [list = null, shown = null, ...address] = row;
        return Number(list) < 0 ? row : [list, waiting.get(keyOf(row, 2))?.at(-1) ?? shown, ...address];
      });
    },
  });
}

export function bugNamed(name: string): PlantedBug {
  const bug = PLANTED_BUGS.find((one) => one.name === name);
  if (!bug) throw new Error(`no planted bug ${name}`);
  return bug;
}
