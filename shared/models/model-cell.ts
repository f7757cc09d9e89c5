import { equalJson } from '../body/equal.ts';
import { isObject, type CellAddress, type Json, type NewCell } from '../cell.ts';
import { toFieldValue } from '../definitions/field-value.ts';
import { describe, SchemalessError, wrongField } from '../errors.ts';
import { judgedBy } from './judged-by.ts';
import {
  type MemberChanges,
  type Members,
  merged,
  unsaved,
  type CellJson,
  type Changes,
  type ModelColumn,
  type SaveOptions,
  storedVersion,
  type StoredVersion,
  versionOf,
} from './model-column.ts';
import { ModelError, readonlyField } from './model-error.ts';

type ChangesOf = (body: Members) => MemberChanges;

/** A write with an unknown outcome. */
interface Unconfirmed {
  readonly on: StoredVersion | null;
  /** The changes that were set when it was made. */
  readonly before: MemberChanges;
  /** All changes, including those of a function; `changesOf` computes them for another body. */
  readonly changes: MemberChanges;
  readonly changesOf: ChangesOf;
  /** The body, before and after its validator. */
  readonly next: Members;
  readonly body: Json;
}

/** A version to be written with those of other cells. */
interface NextVersion {
  readonly cell: Omit<NewCell, 'row_key'>;
  /** Notes that it is saved. `added_id`: null while it is buffered. */
  readonly saved: (added_id: number | null) => void;
}

/** Attempts of a save before it gives up; in each, another writer has taken the version. */
const MOST_TRIES = 100;

/**
 * One cell of a record: its latest version as read or written, and unsaved changes.
 *
 * Versions are numbered from 0, one by one. A `save` writes the next one. If two writers began at the same version, one
 * gets `version_conflict`, unless they write an equal body: then both saves succeed.
 */
export class ModelCell<Body> {
  readonly name: string;
  readonly column_name: string;
  readonly uuid: string;
  readonly #column: ModelColumn;
  #stored: StoredVersion | null;
  #changes: MemberChanges = {};
  #unconfirmed: Unconfirmed | undefined;

  constructor(column: ModelColumn, stored: StoredVersion | null) {
    this.#column = column;
    this.name = column.name;
    this.column_name = column.column_name;
    this.uuid = column.row_key;
    this.#stored = stored;
  }

  /** Whether it has a version. */
  get present(): boolean {
    return this.#stored !== null;
  }

  get ref_key(): number | null {
    return this.#stored?.ref_key ?? null;
  }

  /** The version's added id; null if there is none, or while it is buffered. */
  get added_id(): number | null {
    return this.#stored?.added_id ?? null;
  }

  get created_at(): string | null {
    return this.#stored?.created_at ?? null;
  }

  /** The body with unsaved changes; empty if there is none. */
  get body(): Body {
    return merged(this.#members(), this.#toSave()) as Body;
  }

  get<Member extends keyof Body>(member: Member): Body[Member] | undefined {
    return this.fetch(member, undefined as Body[Member]);
  }

  /** Returns the value of a member, or the default if there is none. */
  fetch<Member extends keyof Body>(member: Member, otherwise: Body[Member]): Body[Member] {
    const { body } = this;
    return Object.hasOwn(body as object, member) ? body[member] : otherwise;
  }

  /**
   * Changes a member; `save` writes it. Undefined removes it. Throws ModelError `readonly_field` for an index field
   * with another value.
   */
  set<Member extends keyof Body & string>(member: Member, value: Body[Member] | undefined): this {
    return this.#change({ [member]: value as Json | undefined });
  }

  /**
   * Writes the next version with the changes made by `set`, or nothing if none differs. After `unavailable`, save it
   * again: the version is stored once in any case, including the changes of an `update`. Throws ModelError
   * `version_conflict`; SchemalessError `invalid_body`, refusals of the datastore, `unavailable`; `erased` if the whole
   * column, or its row, was.
   */
  async save(options: SaveOptions = {}): Promise<this> {
    const [changes, open] = [this.#changes, this.#unconfirmed];
    const toSave = this.#toSave();
    return this.#write(
      (body) =>
        open === undefined || open.on === this.#stored
          ? toSave
          : { ...open.changesOf(body), ...unsaved(changes, open.before) },
      options,
    );
  }

  /**
   * Merges members into the body and saves it. Calls a function again for each version that it builds on. A count (a
   * balance, a number of calls) needs a member that differs each time, such as the id of the request: two equal bodies
   * are one version. After `unavailable`, `save` and the same `update` do the same. Throws as `set` and `save`.
   */
  async update(changes: Changes<Body> | ((body: Body) => Changes<Body>), options: SaveOptions = {}): Promise<this> {
    if (typeof changes !== 'function') return this.#change(changes as Members).save(options);
    const before = this.#changes;
    return this.#write((body) => ({ ...before, ...(changes(merged(body, before) as Body) as Members) }), options);
  }

  /** Returns the next version with the changes made by `set`, validated; undefined if none differs. */
  async next(): Promise<NextVersion | undefined> {
    const [on, set] = [this.#stored, this.#changes];
    const before = this.#members();
    this.#checkReadonly(before, set);
    const body = await this.#judged(merged(before, set));
    if (on !== null && equalJson(body, before)) return undefined;
    const ref_key = on === null ? 0 : on.ref_key + 1;
    return {
      cell: { column_name: this.column_name, ref_key, body },
      saved: (added_id) => void this.#saved({ ref_key, body, added_id, created_at: null }, set),
    };
  }

  /** Reads the version before this one; null before the first. */
  async previous(): Promise<ModelCell<Body> | null> {
    if (this.#stored === null) return null;
    const page = { limit: 1, after: this.#stored.ref_key };
    const [cell] = (await this.#column.datastore.versions(this.#key, page)).cells;
    return cell === undefined ? null : new ModelCell<Body>(this.#column, storedVersion(cell));
  }

  /** Reads the latest version, and discards unsaved changes. */
  async reload(): Promise<this> {
    this.take(await this.#latest());
    return this;
  }

  take(stored: StoredVersion | null): void {
    this.#stored = stored;
    this.#changes = {};
    this.#unconfirmed = undefined;
  }

  toJSON(): CellJson {
    const { added_id, uuid, created_at, column_name, ref_key } = this;
    return { added_id, uuid, created_at, column_name, ref_key, body: this.present ? (this.body as Json) : null };
  }

  /** Returns the members of the version; none if it was erased. Throws if its body is damaged or not an object. */
  #members(): Members {
    const { body = {}, error } = this.#stored ?? {};
    if (error) throw error;
    if (isObject(body)) return body;
    throw wrongField(this.name, 'an object', describe(body), 'invalid_body');
  }

  #change(changes: MemberChanges): this {
    this.#checkReadonly(this.#members(), changes);
    this.#changes = { ...this.#changes, ...changes };
    return this;
  }

  /** Returns the changes made by `set`, on top of an unconfirmed write. */
  #toSave(): MemberChanges {
    const open = this.#unconfirmed;
    return open === undefined ? this.#changes : { ...open.changes, ...unsaved(this.#changes, open.before) };
  }

  #checkReadonly(body: Members, changes: MemberChanges): void {
    for (const [field, type] of Object.entries(this.#column.readonlyFields)) {
      if (!Object.hasOwn(changes, field) || !Object.hasOwn(body, field)) continue;
      const [before, after] = [body[field] ?? null, changes[field]];
      // An integer may be a number or a bigint.
      const same = after !== undefined && String(toFieldValue(before, type)) === String(toFieldValue(after, type));
      if (!same) throw readonlyField(field, before, after);
    }
  }

  async #write(changesOf: ChangesOf, { rebase = false }: SaveOptions): Promise<this> {
    const set = this.#changes;
    for (let tries = 1; ; tries += 1) {
      const on = this.#stored;
      const before = this.#members();
      const changes = changesOf(before);
      this.#checkReadonly(before, changes);
      const next = merged(before, changes);
      const body = await this.#judged(next);
      // After an unconfirmed write, even the previous body counts as a change.
      if (on !== null && this.#unconfirmed === undefined && equalJson(body, before)) return this.#saved(on, set);
      const address = { ...this.#key, ref_key: on === null ? 0 : on.ref_key + 1 };
      const open: Unconfirmed = { on, before: set, changes, changesOf, next, body };
      try {
        const result = await this.#column.datastore.put({ ...address, body });
        return this.#saved(versionOf(address.ref_key, body, result), set);
      } catch (error) {
        if (!(error instanceof SchemalessError)) throw error;
        // A write that may have been done: the next save must repeat it as it is.
        if (error.retry === 'later') this.#unconfirmed = open;
        if (error.code !== 'conflict') throw error;
      }
      const latest = await this.#latest();
      if (!rebase || tries >= MOST_TRIES) throw this.#conflict(address, latest);
      // A conflicting version that is not visible yet stops the next attempt again. Retries without a pause: one writer
      // has succeeded, and 32 writers finish in half of the time that pauses take.
      if (latest !== null) this.#stored = latest;
    }
  }

  /** Returns a validator's output; for an unconfirmed body the output from before, so the write is the same. */
  async #judged(next: Members): Promise<Json> {
    const { validator, name } = this.#column;
    const open = this.#unconfirmed;
    if (open !== undefined && open.on === this.#stored && equalJson(open.next, next)) return open.body;
    return validator === null ? next : judgedBy(validator, next, name);
  }

  /** Takes a saved version; changes set during the save stay unsaved. */
  #saved(stored: StoredVersion, set: MemberChanges): this {
    this.#stored = stored;
    this.#changes = unsaved(this.#changes, set);
    this.#unconfirmed = undefined;
    return this;
  }

  async #latest(): Promise<StoredVersion | null> {
    const { cell } = await this.#column.datastore.getLatest(this.#key);
    return cell === null ? null : storedVersion(cell);
  }

  get #key(): Omit<CellAddress, 'ref_key'> {
    const { row_key, column_name } = this.#column;
    return { row_key, column_name };
  }

  #conflict(address: CellAddress, latest: StoredVersion | null): ModelError {
    const { ref_key } = address;
    const [wanted, got] = [`version ${ref_key} to be free`, `version ${latest?.ref_key ?? ref_key}, by another writer`];
    const details = { field: 'ref_key', wanted, got, address, more: { latest: latest?.ref_key ?? null } };
    const message = `${this.name}: wanted ${wanted}, got ${got}: reload it, or rebase`;
    return new ModelError('version_conflict', message, details);
  }
}
