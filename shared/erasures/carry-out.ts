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

/** Of one that was only asked for. */
const NOT_CLEANED: ErasureTimes = { bodies: null, entries: null, copies: null, parked: null, nodes: null };

/** What is known of an erasure before anything is done. */
type Asked = Pick<
  Erasure,
  'id' | 'scope' | 'row_key' | 'column_name' | 'ref_key' | 'up_to' | 'shard' | 'reason' | 'requested_by'
>;

/** The record of an erasure that is to be carried out. */
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
 * Does what is to be done for an erasure, all of it, whatever was done before: everything can be repeated.
 *
 * 1. It gets its place in the log. From then on nothing is appended to what it is of.
 * 2. The bodies go, each page of them behind what the indexes have of it: once a body is gone, nobody can say where its
 *    entries are but what is written down of that before.
 * 3. What was buffered of it on any group goes.
 * 4. What triggers keep of cells that they failed on goes.
 * 5. It is done when every node that could be the writer shows it: one that was promoted without it would bring the bodies
 *    back. The copy of a shard that is being moved has them as its mover found them: they go there, too, once it has come
 *    to the erasure.
 *
 * A step that fails keeps none of the others waiting but those that need it.
 *
 * @param beyond of versions: those up to this one were erased before, and are not looked at @default all are
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
    // Which indexes there are, and groups: what is cached may be a minute old.
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
            // An index may have come meanwhile, whose build has read them.
            if (areGone) context.topology.refresh();
            else await this.#requireTimeOr(places);
            const taken = await ofRow.takeAway(client, page);
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

  /** What was written down here is done, each page of it: the others are for another turn. */
  async #requireTimeOr(places: EntryPlaces): Promise<void> {
    if (this.#patience.mayGoOn()) return;
    await places.forget();
    requireTime(this.#patience);
  }

  /** Where whoever erased bodies did not come to take away once more what had been written meanwhile. */
  async #takeLeft(client: SqlClient, entries: EntriesOfRow, places: EntryPlaces): Promise<void> {
    for (const place of await places.left()) {
      requireTime(this.#patience);
      await entries.takeAllAway(client, place);
      await places.done(place);
    }
  }

  /** Where the shard has just moved, or is about to, it is looked for again. */
  async #onPrimary(run: (client: SqlClient) => Promise<unknown>): Promise<void> {
    const { topology, groups } = this.#work.context;
    for (let look = 1; ; look += 1) {
      const { group } = homeOf(await requireDatastore(topology, this.#datastore), this.#erasure.shard);
      try {
        return void (await run(await groups.client(group)));
      } catch (error) {
        if (!isGone(error) || look === LOOKS) throw error;
        topology.refresh();
      }
    }
  }

  /** On every group, first what waits: what the drain keeps of it meanwhile is deleted behind that. */
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

  /** What triggers keep of a cell they failed on may quote it. */
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

const LOOKS = 3;

function isExpected(error: unknown): error is Error {
  return (
    error instanceof SqlError ||
    error instanceof SchemalessError ||
    error instanceof NotYet ||
    error instanceof EntriesMissed
  );
}
