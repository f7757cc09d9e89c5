import type { Cell } from '../cell.ts';
import type { BaseBody, CellBodies, ModelDatastore, ModelDeclaration } from './declaration.ts';
import { ModelCell } from './model-cell.ts';
import { saveCells } from './save-cells.ts';
import { type Changes, type ModelColumn, type SaveOptions, storedVersion } from './model-column.ts';

const VALUES_OF_BASE = ['added_id', 'ref_key', 'created_at', 'body', 'present'] as const;
type OfBase = (typeof VALUES_OF_BASE)[number] | 'get' | 'fetch' | 'previous' | 'toJSON';

/** A record: the row of one tuple, with its cells. Members without a cell's name are those of `base`. */
export interface ModelRecord<D extends ModelDeclaration> extends Pick<ModelCell<BaseBody<D>>, OfBase> {
  readonly uuid: string;
  readonly base: ModelCell<BaseBody<D>>;
  /** All cells, by their names, `base` among them. */
  readonly cells: { readonly [Cell in keyof CellBodies<D>]: ModelCell<CellBodies<D>[Cell]> };
  set<Member extends keyof BaseBody<D> & string>(
    member: Member,
    value: BaseBody<D>[Member] | undefined,
  ): ModelRecord<D>;
  update(
    changes: Changes<BaseBody<D>> | ((body: BaseBody<D>) => Changes<BaseBody<D>>),
    options?: SaveOptions,
  ): Promise<ModelRecord<D>>;
  save(options?: SaveOptions): Promise<ModelRecord<D>>;
  /**
   * Saves all changed cells in one transaction: all are written, or none. Throws as `save`; after `unavailable`, repeat it
   * before any further change.
   */
  saveAll(): Promise<ModelRecord<D>>;
  /** Reads all cells again, and discards unsaved changes. */
  reload(): Promise<ModelRecord<D>>;
}

/** The cells of a model: `base` first. */
export interface ModelCells {
  readonly datastore: ModelDatastore;
  readonly modelColumns: readonly Omit<ModelColumn, 'row_key' | 'datastore'>[];
}

type Body = { readonly [member: string]: unknown };

export async function readCells({ datastore, modelColumns }: ModelCells, row_key: string): Promise<readonly Cell[]> {
  const columns = modelColumns.map(({ column_name }) => column_name);
  const found: Cell[] = [];
  for (let after: string | undefined; ;) {
    const { cells, next } = await datastore.row(row_key, { columns, after });
    found.push(...cells);
    if (next === null) return found;
    after = next;
  }
}

/** @param found the latest cells of the row, of the model's columns at least */
export function modelRecord<D extends ModelDeclaration>(
  model: ModelCells,
  row_key: string,
  found: readonly Cell[],
): ModelRecord<D> {
  const { datastore, modelColumns } = model;
  const versionIn = (some: readonly Cell[], column: string) => {
    const cell = some.find(({ column_name }) => column_name === column);
    return cell === undefined ? null : storedVersion(cell);
  };
  const cells = modelColumns.map(
    (column) => new ModelCell<Body>({ ...column, datastore, row_key }, versionIn(found, column.column_name)),
  );
  const [base] = cells;
  if (base === undefined) throw new Error('a model without base');
  const record = {
    uuid: row_key,
    base,
    cells: Object.fromEntries(cells.map((cell) => [cell.name, cell])),
    get: (member: string) => base.get(member),
    fetch: (member: string, otherwise: unknown) => base.fetch(member, otherwise),
    set(member: string, value: unknown) {
      base.set(member, value);
      return record;
    },
    async update(changes: Changes<Body> | ((body: Body) => Changes<Body>), options?: SaveOptions) {
      await base.update(changes, options);
      return record;
    },
    async save(options?: SaveOptions) {
      await base.save(options);
      return record;
    },
    async saveAll() {
      await saveCells(datastore, row_key, cells);
      return record;
    },
    previous: () => base.previous(),
    async reload() {
      const now = await readCells(model, row_key);
      for (const cell of cells) cell.take(versionIn(now, cell.column_name));
      return record;
    },
    toJSON: () => base.toJSON(),
  };
  for (const name of VALUES_OF_BASE) Object.defineProperty(record, name, { enumerable: true, get: () => base[name] });
  return record as unknown as ModelRecord<D>;
}
