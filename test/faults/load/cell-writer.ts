import type { NewCell, PutResult } from '../../../shared/cell.ts';

export interface CellWriter extends AsyncDisposable {
  put(cell: NewCell): Promise<PutResult>;
  batchPut(cells: readonly NewCell[]): Promise<readonly PutResult[]>;
}
