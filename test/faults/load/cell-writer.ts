import type { NewCell, PutResult } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';

export interface CellWriter extends AsyncDisposable {
  put(cell: NewCell): Promise<PutResult>;
  batchPut(cells: readonly NewCell[]): Promise<readonly PutResult[]>;
  /** Where it is a store. */
  readonly get?: Datastore['get'];
}
