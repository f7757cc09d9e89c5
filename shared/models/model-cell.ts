import { equalJson } from '../body/equal.ts';
import type { CellAddress, Json } from '../cell.ts';
import { toFieldValue } from '../definitions/field-value.ts';
import { describe, SchemalessError, wrongField } from '../errors.ts';
import { judgedBy } from './judged-by.ts';
import {
  isMembers,
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

/** A write of which nobody knows whether it was done. */
interface Unconfirmed {
  readonly on: StoredVersion | null;
  /** The changes that were set when it was made. */
  readonly before: MemberChanges;
  /** All changes, those that a function made too; and how they are made of another body. */
  readonly changes: MemberChanges;
  readonly changesOf: ChangesOf;
  /** The body, before and after its validator. */
  readonly next: Members;
  readonly body: Json;
}

/** Versions that a save may find taken before it gives up; each time somebody else has written one. */
const MOST_TRIES = 100;

/**
 * One cell of a record: its latest version as it was read or written, and changes that are not saved yet.
 *
 * Versions are numbered from 0, one by one. A `save` writes the next one, so that of two writers who began at the same
 * version one is told `version_conflict`. Where both write an equal body, both are told that it is saved.
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

  /** The version's place in its shard's log; null where there is none, or while it is buffered. */
  get id(): number | null {
    return this.#stored?.added_id ?? null;
  }

  get created_at(): string | null {
    return this.#stored?.created_at ?? null;
  }

  /** The body with the changes that are not saved yet; empty where there is none. */
  get body(): Body {
    return merged(this.#members(), this.#toSave()) as Body;
  }

  get<Member extends keyof Body>(member: Member): Body[Member] | undefined {
    return this.fetch(member, undefined as Body[Member]);
  }

  /** The value of a member, or the default where it has none. */
  fetch<Member extends keyof Body>(member: Member, otherwise: Body[Member]): Body[Member] {
    const { body } = this;
    return Object.hasOwn(body as object, member) ? body[member] : otherwise;
  }

  /**
   * Changes a member; `save` writes it. Undefined takes it away. Throws ModelError `readonly_field` for an index field
   * that has another value.
   */
  set<Member extends keyof Body & string>(member: Member, value: Body[Member] | undefined): this {
    return this.#change({ [member]: value as Json | undefined });
  }

  /**
   * Writes the next version with the changes made by `set`, or nothing where none differs. What is not confirmed
   * (`unavailable`) is to be saved again: it is there once, whatever became of it, with what an `update` made, too.
   * Throws ModelError `version_conflict`; SchemalessError `invalid_body`, what the datastore refuses, `unavailable`;
   * `erased` where the whole column, or its row, was.
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
   * Merges members into the body and saves it. As a function it is asked again for what it makes of the version that it
   * is put on top of. What counts (a balance, a number of calls) needs a member that differs each time, such as the id
   * of the request: two equal bodies are one version. After `unavailable`, `save` and the same `update` do the same.
   * Throws as `set` and `save`.
   */
  async update(changes: Changes<Body> | ((body: Body) => Changes<Body>), options: SaveOptions = {}): Promise<this> {
    if (typeof changes !== 'function') return this.#change(changes as Members).save(options);
    const before = this.#changes;
    return this.#write((body) => ({ ...before, ...(changes(merged(body, before) as Body) as Members) }), options);
  }

  /** The version before this one, to be read; null before the first. */
  async previous(): Promise<ModelCell<Body> | null> {
    if (this.#stored === null) return null;
    const page = { limit: 1, after: this.#stored.ref_key };
    const [cell] = (await this.#column.datastore.versions(this.#key, page)).cells;
    return cell === undefined ? null : new ModelCell<Body>(this.#column, storedVersion(cell));
  }

  /** Reads the latest version, and forgets changes that are not saved. */
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
    const { id, uuid, created_at, column_name, ref_key } = this;
    return { id, uuid, created_at, column_name, ref_key, body: this.present ? (this.body as Json) : null };
  }

  /** Those of the version; none where it was erased. Throws where its body is damaged, or no object. */
  #members(): Members {
    const { body = {}, error } = this.#stored ?? {};
    if (error) throw error;
    if (isMembers(body)) return body;
    throw wrongField(this.name, 'an object', describe(body), 'invalid_body');
  }

  #change(changes: MemberChanges): this {
    this.#checkReadonly(this.#members(), changes);
    this.#changes = { ...this.#changes, ...changes };
    return this;
  }

  /** What was set, on top of what is not confirmed. */
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
      // Where something else may have been written meanwhile, what was there before is a change.
      if (on !== null && this.#unconfirmed === undefined && equalJson(body, before)) return this.#saved(on, set);
      const address = { ...this.#key, ref_key: on === null ? 0 : on.ref_key + 1 };
      const open: Unconfirmed = { on, before: set, changes, changesOf, next, body };
      const result = await this.#column.datastore
        .put({ ...address, body })
        .catch((error: unknown) => this.#throwUnconfirmed(error, open));
      if (result.outcome === 'unavailable') {
        const message = `Not confirmed, save it again: ${result.reason}`;
        this.#throwUnconfirmed(new SchemalessError('unavailable', message, { address }), open);
      }
      if (result.outcome === 'erased') throw this.#erased(address);
      if (result.outcome === 'subject_forgotten') throw this.#forgotten(address, result.field);
      if (result.outcome !== 'conflict') return this.#saved(versionOf(address.ref_key, body, result), set);
      const latest = await this.#latest();
      if (!rebase || tries >= MOST_TRIES) throw this.#conflict(address, latest);
      // Where the version that is in the way cannot be seen yet, the next try meets it again. At once: one of those who
      // met has written, and 32 of them are done in half of the time that they take with pauses.
      if (latest !== null) this.#stored = latest;
    }
  }

  /** What a validator makes of a body: of one that is not confirmed what it made before, so that it is the same write. */
  async #judged(next: Members): Promise<Json> {
    const { validator, name } = this.#column;
    const open = this.#unconfirmed;
    if (open !== undefined && open.on === this.#stored && equalJson(open.next, next)) return open.body;
    return validator === null ? next : judgedBy(validator, next, name);
  }

  /** What was set meanwhile stays to be saved. */
  #saved(stored: StoredVersion, set: MemberChanges): this {
    this.#stored = stored;
    this.#changes = unsaved(this.#changes, set);
    this.#unconfirmed = undefined;
    return this;
  }

  /** Keeps what may have been written: it is to be saved again as it is. */
  #throwUnconfirmed(error: unknown, open: Unconfirmed): never {
    if (error instanceof SchemalessError && error.retry === 'later') this.#unconfirmed = open;
    throw error;
  }

  async #latest(): Promise<StoredVersion | null> {
    const { cell } = await this.#column.datastore.getLatest(this.#key);
    return cell === null ? null : storedVersion(cell);
  }

  get #key(): Omit<CellAddress, 'ref_key'> {
    const { row_key, column_name } = this.#column;
    return { row_key, column_name };
  }

  #erased(address: CellAddress): SchemalessError {
    const message = `${this.name}: version ${address.ref_key} was erased for good, and is not saved`;
    return new SchemalessError('erased', message, { address, status: 409 });
  }

  #forgotten(address: CellAddress, field: string): SchemalessError {
    const message = `${this.name}: its subject (${field}) was forgotten for good, and has fields sealed under its key: it is not saved`;
    return new SchemalessError('subject_forgotten', message, { address, field });
  }

  #conflict(address: CellAddress, latest: StoredVersion | null): ModelError {
    const { ref_key } = address;
    const [wanted, got] = [`version ${ref_key} to be free`, `version ${latest?.ref_key ?? ref_key}, by another writer`];
    const details = { field: 'ref_key', wanted, got, address, more: { latest: latest?.ref_key ?? null } };
    const message = `${this.name}: wanted ${wanted}, got ${got}: reload it, or rebase`;
    return new ModelError('version_conflict', message, details);
  }
}
