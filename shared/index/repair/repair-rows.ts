import { differencesOf } from '../differences.ts';
import type { PhysicalIndex } from '../index-table.ts';
import { DEPTH, wantedInParts, type MistypedField, type EntryOfShard, type Wanted } from '../wanted-entries.ts';
import { writeEntries, type MissedEntries } from '../write-entries.ts';
import { SqlError } from '../../sql/client.ts';
import type { RowOfShard } from '../../sql/statements/select-row-states.ts';
import { homeOf, requireDatastore } from '../../access/groups.ts';
import type { DatastoreTopology } from '../../topology/topology.ts';
import type { RepairWork } from './repair-work.ts';
import { slicesOf } from '../../slices-of.ts';

const ROWS_A_STATEMENT = 100;
/** Differing entries collected before a write: more of them share a table's statement. */
const ENTRIES_AT_ONCE = 5000;
/** Tables written side by side: more would wait too long for connections. */
const TABLES_AT_ONCE = 50;
const ENTRIES_A_STATEMENT = 200;

interface RowsRepaired {
  readonly written: number;
  readonly missed: ReadonlyMap<string, ReadonlySet<string>>;
  readonly unread: ReadonlyMap<number, unknown>;
  readonly mistyped: readonly MistypedField[];
}

type RowsWork = Pick<RepairWork, 'context' | 'datastore' | 'unavailable' | 'slow'>;

/**
 * Compares the entries of rows of one group's shards with their cells **now**, and writes those that differ. A refused
 * table costs its own rows and entries alone. `only`: the group whose entries matter, with those that may have moved
 * away from it @default all. Throws SqlError, SchemalessError `unavailable` when the rows cannot be read.
 */
export async function repairRows(
  work: RowsWork,
  indexes: readonly PhysicalIndex[],
  rows: readonly RowOfShard[],
  only?: string,
): Promise<RowsRepaired> {
  const topology = await requireDatastore(work.context.topology, work.datastore);
  return new RowsRepair(work, indexes, topology, only).repair(rows);
}

class RowsRepair {
  readonly #work: RowsWork;
  readonly #indexes: readonly PhysicalIndex[];
  readonly #topology: DatastoreTopology;
  readonly #only: string | undefined;
  readonly #missed = new Map<string, Set<string>>();
  readonly #unread = new Map<number, unknown>();
  readonly #mistyped: MistypedField[] = [];
  #differing: EntryOfShard[] = [];
  #written = 0;

  constructor(
    work: RowsWork,
    indexes: readonly PhysicalIndex[],
    topology: DatastoreTopology,
    only: string | undefined,
  ) {
    this.#work = work;
    this.#indexes = indexes;
    this.#topology = topology;
    this.#only = only;
  }

  async repair(rows: readonly RowOfShard[]): Promise<RowsRepaired> {
    const { slow } = this.#work;
    const distinct = [...new Map(rows.map((row) => [row.row_key, row])).values()];
    const { skipped = [], asked = [] } = Object.groupBy(distinct, ({ shard }) =>
      slow.has(shard) ? 'skipped' : 'asked',
    );
    for (const { shard } of skipped) this.#leave(shard);
    for (const page of slicesOf(asked, ROWS_A_STATEMENT)) await this.#compareAll(page);
    await this.#writeAll();
    return { written: this.#written, missed: this.#missed, unread: this.#unread, mistyped: this.#mistyped };
  }

  /** Halves rows that time out by their shards, until the slow one, perhaps locked, stands alone. */
  async #compareAll(page: readonly RowOfShard[]): Promise<void> {
    const { context, datastore, slow } = this.#work;
    const shards = [...Map.groupBy(page, ({ shard }) => shard).values()];
    const wanted = { datastore, indexes: this.#indexes, depth: DEPTH.all };
    try {
      for await (const part of wantedInParts(context, wanted, page)) {
        await this.#compare(part);
        if (part.more || this.#differing.length >= ENTRIES_AT_ONCE) await this.#writeAll();
      }
    } catch (error) {
      if (!(error instanceof SqlError) || error.failure !== 'unclear' || !error.timedOut) throw error;
      const [first] = page;
      if (shards.length === 1 && first) {
        slow.add(first.shard);
        return this.#leave(first.shard);
      }
      const half = Math.ceil(shards.length / 2);
      for (const some of [shards.slice(0, half), shards.slice(half)]) await this.#compareAll(some.flat());
    }
  }

  #leave(shard: number): void {
    this.#unread.set(shard, new Error(`reading rows of shard ${shard} took a whole time limit a moment ago`));
  }

  async #compare(part: Wanted): Promise<void> {
    const { context, datastore, unavailable } = this.#work;
    for (const { rows, error } of part.unread) for (const { shard } of rows) this.#unread.set(shard, error);
    for (const field of part.mistyped) this.#mistyped.push(field);
    const groupOf = ({ shard }: EntryOfShard): string => homeOf(this.#topology, shard).group;
    const isWanted = ({ shard }: EntryOfShard): boolean => {
      const { group, epoch } = homeOf(this.#topology, shard);
      return this.#only === undefined || group === this.#only || epoch > 1;
    };
    const [asked, left]: [EntryOfShard[], EntryOfShard[]] = [[], []];
    for (const entry of part.entries.filter(isWanted)) (unavailable.has(groupOf(entry)) ? left : asked).push(entry);
    for (const [group, entries] of Map.groupBy(left, groupOf)) this.#miss({ group, entries, error: undefined });
    const { differences, unasked } = await differencesOf(context, datastore, asked);
    for (const one of unasked) this.#miss(one);
    for (const { wanted } of differences) this.#differing.push(wanted);
  }

  async #writeAll(): Promise<void> {
    const { context, datastore } = this.#work;
    const byTable = Map.groupBy(this.#differing, ({ index, shard }) => `${index.name}_${index.hash}/${shard}`);
    const tables = [...byTable.values()];
    this.#differing = [];
    // `writeEntries` makes one statement of each table, so a large one takes several rounds.
    const longest = Math.max(0, ...tables.map(({ length }) => length));
    for (let start = 0; start < longest; start += ENTRIES_A_STATEMENT) {
      const parts = tables
        .map((entries) => entries.slice(start, start + ENTRIES_A_STATEMENT))
        .filter(({ length }) => length > 0);
      for (const alongside of slicesOf(parts, TABLES_AT_ONCE)) {
        const failed = await writeEntries(context, datastore, alongside.flat());
        for (const one of failed) this.#miss(one);
        this.#written += alongside.flat().length - failed.reduce((sum, { entries }) => sum + entries.length, 0);
      }
    }
  }

  #miss({ group, entries, error }: MissedEntries): void {
    if (isOfGroup(error)) this.#work.unavailable.add(group);
    const ofGroup = this.#missed.get(group) ?? new Set();
    for (const { row } of entries) ofGroup.add(row.row_key);
    this.#missed.set(group, ofGroup);
  }
}

/** Whether a failure is the whole group's. A refusal or a lock is its table's. */
function isOfGroup(error: unknown): boolean {
  return (
    error !== undefined &&
    !(error instanceof SqlError && (error.failure === 'rejected' || error.failure === 'contention'))
  );
}
