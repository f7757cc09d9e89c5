import { homeOf, requireDatastore } from '../access/groups.ts';
import type { Erasure, ErasureTimes } from '../api/erasures.ts';
import { covers, type ErasureTarget, shardDatabase } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { isGone } from '../sql/gone.ts';
import { eraseBodies, type ErasedBodies } from '../store/erase-bodies.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import { troubledShards } from '../triggers/state/troubled-shards.ts';
import { entryPlaces, type EntryPlaces } from './entry-places.ts';
import { placeErasure, targetOf } from './erasure-cell.ts';
import type { ErasureProgress } from './erasure-record.ts';
import { NotYet, requireTime, type ErasureWork, type Patience } from './erasure-work.ts';
import { EntriesMissed, entriesOfRow, type EntriesOfRow } from './forget-entries.ts';
import { requireGone } from './require-gone.ts';
import { deleteCopies, DELETED_COPIES } from './statements/delete-copies.ts';

/** The times of a new erasure. */
const NOT_CLEANED: ErasureTimes = { bodies: null, entries: null, copies: null, parked: null, nodes: null };

/** The fields of an erasure that are known at its request. */
type Asked = Pick<
  Erasure,
  'id' | 'scope' | 'row_key' | 'column_name' | 'ref_key' | 'up_to' | 'shard' | 'reason' | 'requested_by'
>;

/** Returns the record of a new erasure. */
export function newErasure(asked: Asked): Erasure {
  return {
    ...asked,
    requested_at: new Date().toISOString(),
    state: 'erasing',
    added_id: null,
    cells: 0,
    bytes: 0,
    erased_at: null,
    cleaned: NOT_CLEANED,
    waits_for: null,
    backups_until: null,
  };
}

const DAY_MS = 86_400_000;

/**
 * Carries out an erasure in full, whatever was done before: every step is repeatable.
 *
 * 1. Appends the erasure to the log. From then on its target accepts no appends.
 * 2. Erases the bodies, each page after its index entries: once a body is gone, only a note made before tells where its
 *    entries are.
 * 3. Deletes hints of the target on every group.
 * 4. Deletes the state of the target's cells that triggers failed on.
 * 5. Checks that every node that could become the writer shows the erasure: one promoted without it would bring the
 *    bodies back. A moving shard's copy has the bodies that its mover found; they are erased there as well, once it has
 *    the erasure.
 *
 * A failed step delays only the steps that need it.
 *
 * @param beyond of versions: those up to this one were erased before and are skipped @default none is skipped
 */
export function carryOut(
  work: ErasureWork,
  datastore: string,
  erasure: Erasure,
  patience: Patience,
  beyond?: number,
): Promise<ErasureProgress> {
  return new CarryingOut(work, datastore, erasure, patience, beyond).run();
}

class CarryingOut {
  readonly #work: ErasureWork;
  readonly #datastore: string;
  readonly #erasure: Erasure;
  readonly #target: ErasureTarget;
  readonly #patience: Patience;
  readonly #cleaned: Record<keyof ErasureTimes, string | null> = { ...NOT_CLEANED };
  readonly #waiting: string[] = [];
  readonly #erased: ErasedBodies = { cells: 0, bytes: 0 };

  constructor(work: ErasureWork, datastore: string, erasure: Erasure, patience: Patience, beyond?: number) {
    this.#work = work;
    this.#datastore = datastore;
    this.#erasure = erasure;
    this.#target = { ...targetOf(erasure), ...(beyond !== undefined && { beyond }) };
    this.#patience = patience;
  }

  async run(): Promise<ErasureProgress> {
    // The cached indexes and groups may be a minute old.
    this.#work.context.topology.refresh();
    const placed = await placeErasure(this.#work.context, this.#datastore, this.#erasure);
    const isPlaced = placed.at === 'log' || placed.at === 'wider';
    if (isPlaced) await this.#takeBodies();
    else this.#waiting.push(`log: ${placed.why}`);
    await this.#step('copies', () => this.#forgetCopies());
    await this.#step('parked', () => this.#forgetParked());
    if (this.#cleaned.bodies !== null)
      await this.#step('nodes', () => {
        const at = { datastore: this.#datastore, shard: this.#erasure.shard, target: this.#target };
        return requireGone(this.#work, { ...at, isLogged: placed.at === 'log' }, this.#patience);
      });

    const isDone = isPlaced && this.#waiting.length === 0;
    const { backupDays } = this.#work;
    return {
      state: isDone ? 'erased' : 'erasing',
      added_id: placed.at === 'log' ? placed.added_id : null,
      erased: this.#erased,
      cleaned: this.#cleaned,
      waits_for: isDone ? null : this.#waiting.join('; ').slice(0, 500),
      backups_until: isDone && backupDays > 0 ? new Date(Date.now() + backupDays * DAY_MS).toISOString() : null,
    };
  }

  async #step(name: keyof ErasureTimes, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      this.#cleaned[name] = new Date().toISOString();
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.#waiting.push(`${name}: ${error.message}`);
    }
  }

  async #takeBodies(): Promise<void> {
    let entries: EntriesOfRow | undefined;
    const { context, stateTable } = this.#work;
    const places = entryPlaces(stateTable, this.#datastore, this.#target);
    await this.#step('bodies', async () => {
      const { shard } = this.#erasure;
      const ofRow = (entries = entriesOfRow({ context, datastore: this.#datastore, target: this.#target, shard }));
      await this.#onPrimary((client) =>
        eraseBodies(
          client,
          shardDatabase(this.#datastore, shard),
          this.#target,
          this.#erased,
          async (page, areGone) => {
            // The build of an index added in between may have read them.
            if (areGone) context.topology.refresh();
            else await this.#requireTimeOr(places);
            const taken = await ofRow.removeEntries(client, page);
            if (!areGone) await places.note(taken);
          },
        ),
      );
      await places.forget();
    });
    if (this.#cleaned.bodies !== null)
      await this.#step('entries', () =>
        this.#onPrimary(async (client) => {
          if (!entries) return;
          await this.#takeLeft(client, entries, places);
          await entries.bringBack(client);
        }),
      );
  }

  /** Throws `NotYet` if time is up, after deleting the notes of finished pages. */
  async #requireTimeOr(places: EntryPlaces): Promise<void> {
    if (this.#patience.mayGoOn()) return;
    await places.forget();
    requireTime(this.#patience);
  }

  /** Removes entries that readers of the bodies still wrote, at places noted by runs that were interrupted before. */
  async #takeLeft(client: SqlClient, entries: EntriesOfRow, places: EntryPlaces): Promise<void> {
    for (const place of await places.left()) {
      requireTime(this.#patience);
      await entries.removeAllEntries(client, place);
      await places.done(place);
    }
  }

  /** Runs on the shard's primary, and looks the primary up again if the shard moves. */
  async #onPrimary(run: (client: SqlClient) => Promise<unknown>): Promise<void> {
    const { topology, groups } = this.#work.context;
    for (let poll = 1; ; poll += 1) {
      const { group } = homeOf(await requireDatastore(topology, this.#datastore), this.#erasure.shard);
      try {
        return void (await run(await groups.client(group)));
      } catch (error) {
        if (!isGone(error) || poll === POLLS) throw error;
        topology.refresh();
      }
    }
  }

  /** Deletes hints on every group, waiting ones first: the drain may turn some into drained ones. */
  async #forgetCopies(): Promise<void> {
    const { groups } = this.#work.context;
    const names = await groups.namesNow();
    const ends = await Promise.allSettled(
      names.map(async (group) => {
        const client = await groups.client(group);
        for (const table of ['buffer', 'drained'] as const)
          for (let deleted = DELETED_COPIES; deleted === DELETED_COPIES; requireTime(this.#patience))
            deleted = (await client.change(deleteCopies(table, this.#datastore, this.#target))).affectedRows;
      }),
    );
    const failed = names.flatMap((group, position) => {
      const end = ends[position];
      if (end?.status !== 'rejected') return [];
      if (!isExpected(end.reason)) throw end.reason;
      return [`${group}: ${end.reason.message}`];
    });
    if (failed.length > 0) throw new NotYet(failed.join(', '));
  }

  /** Deletes the state of cells that triggers failed on, since it may quote them. */
  async #forgetParked(): Promise<void> {
    const { context, stateTable } = this.#work;
    for (const { definition } of await context.topology.triggers(this.#datastore)) {
      const name = { datastore: this.#datastore, trigger: definition.name };
      await overState(() =>
        troubledShards(stateTable, name).change(this.#erasure.shard, (before) => {
          const cells = before.cells.filter(
            ({ message }) => message.erasure !== undefined || !covers(this.#target, message),
          );
          return cells.length === before.cells.length
            ? { result: undefined }
            : { result: undefined, next: { ...before, cells } };
        }),
      );
    }
  }
}

const POLLS = 3;

function isExpected(error: unknown): error is Error {
  return (
    error instanceof SqlError ||
    error instanceof SchemalessError ||
    error instanceof NotYet ||
    error instanceof EntriesMissed
  );
}
