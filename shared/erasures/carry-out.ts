import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreContext } from '../access/context.ts';
import { homeOf, requireDatastore, sharesStorage } from '../access/groups.ts';
import type { Erasure, ErasureTimes } from '../contract/erasure-operations.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { covers, type ErasureTarget, copyDatabase, shardDatabase } from '../address.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient, type Target } from '../sql/client.ts';
import { isGone } from '../sql/gone.ts';
import { eraseBodies, type ErasedBodies } from '../store/erase-bodies.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import type { ShardHome } from '../topology/topology.ts';
import { overState } from '../triggers/manage/state-away.ts';
import { troubledShards } from '../triggers/state/troubled-shards.ts';
import { entryPlaces, type EntryPlaces } from './entry-places.ts';
import { placeErasure, targetOf } from './erasure-cell.ts';
import type { ErasureProgress } from './erasure-record.ts';
import { EntriesMissed, entriesOfRow, type EntriesOfRow } from './forget-entries.ts';
import { countLeft, toLeft } from './statements/count-left.ts';
import { deleteCopies, DELETED_COPIES } from './statements/delete-copies.ts';

/** What an erasure is carried out with. */
export interface ErasureWork {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  /** How long backups are kept at most; 0: there are none. */
  readonly backupDays: number;
}

/** How long somebody stays at it. */
export interface Patience {
  /** Asked before each page of bodies. */
  readonly mayGoOn: () => boolean;
  /** Milliseconds between looks whether all servers show it. */
  readonly looksMs: readonly number[];
}

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

/** A step that is not done, and why. */
class NotYet extends Error {}

const MUCH = 'there is much, which goes on in the background';

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
  const target = { ...targetOf(erasure), ...(beyond !== undefined && { beyond }) };
  return new CarryingOut(work, datastore, { erasure, target }, patience).run();
}

interface Carried {
  readonly erasure: Erasure;
  readonly target: ErasureTarget;
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

  constructor(work: ErasureWork, datastore: string, { erasure, target }: Carried, patience: Patience) {
    this.#work = work;
    this.#datastore = datastore;
    this.#erasure = erasure;
    this.#target = target;
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
    if (this.#cleaned.bodies !== null) await this.#step('nodes', () => this.#requireGone(placed.at === 'log'));

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
        eraseBodies(client, this.#database, this.#target, this.#erased, async (page, areGone) => {
          // An index may have come meanwhile, whose build has read them.
          if (areGone) context.topology.refresh();
          else await this.#requireTimeOr(places);
          const taken = await ofRow.takeAway(client, page);
          if (!areGone) await places.note(taken);
        }),
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
    throw new NotYet(MUCH);
  }

  /** Where whoever erased bodies did not come to take away once more what had been written meanwhile. */
  async #takeLeft(client: SqlClient, entries: EntriesOfRow, places: EntryPlaces): Promise<void> {
    for (const place of await places.left()) {
      this.#requireTime();
      await entries.takeAllAway(client, place);
      await places.done(place);
    }
  }

  #requireTime(): void {
    if (!this.#patience.mayGoOn()) throw new NotYet(MUCH);
  }

  get #database(): string {
    return shardDatabase(this.#datastore, this.#erasure.shard);
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
          for (let deleted = DELETED_COPIES; deleted === DELETED_COPIES; this.#requireTime())
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

  /**
   * Throws as long as a node that could be the writer shows a body, or not the erasure, and so for a copy of the shard.
   *
   * @param isLogged the erasure itself is in the log, and not one that is wider
   */
  async #requireGone(isLogged: boolean): Promise<void> {
    const { groups } = this.#work.context;
    const copy = copyDatabase(this.#datastore, this.#erasure.shard);
    const before = await this.#homeNow();
    // First: a copy that became the shard with them would show them again, whichever server of the shard is away.
    if (before.copy) await this.#eraseCopy(await groups.client(before.copy.group), copy);
    await this.#requireGoneFrom(before.group, this.#database, isLogged);
    // A move that begins from here on finds no body any more.
    const now = await this.#homeNow();
    if (now.group !== before.group) throw new NotYet('the shard is being moved');
    if (!now.copy) return;
    await this.#eraseCopy(await groups.client(now.copy.group), copy);
    await this.#requireGoneFrom(now.copy.group, copy, isLogged);
  }

  async #eraseCopy(client: SqlClient, copy: string): Promise<void> {
    await eraseBodies(client, copy, this.#target, undefined, async () => this.#requireTime()).catch(
      (error: unknown) => {
        // It is about to be made, or dropped.
        if (!isGone(error)) throw error;
      },
    );
  }

  /** Past every cache. */
  async #homeNow(): Promise<ShardHome> {
    const { topologyTable } = this.#work;
    const topology = await overState(() => readDatastore(topologyTable, this.#datastore));
    const home = topology?.homes[this.#erasure.shard];
    if (!home) throw new NotYet('the topology does not say where the shard is');
    return home;
  }

  async #requireGoneFrom(group: string, database: string, isLogged: boolean): Promise<void> {
    const { context } = this.#work;
    const client = await context.groups.client(group);
    const isOne =
      !client.abilities.survivesDiskLoss || client.nodes < 2 || (await sharesStorage(context.topology, group));
    const nodes: readonly Target[] = isOne ? ['writer'] : Array.from({ length: client.nodes }, (_, node) => ({ node }));
    const statement = countLeft(database, this.#target);
    for (const pauseMs of this.#patience.looksMs) {
      await sleep(pauseMs);
      const answers = await Promise.all(nodes.map(async (node) => toLeft(await client.select(statement, node))));
      if (answers.every(({ hasBodies, hasErasure }) => !hasBodies && (hasErasure || !isLogged))) return;
    }
    throw new NotYet(`not every server of ${group} shows that ${database} has none of it any more`);
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
