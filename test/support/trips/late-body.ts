import type { Json } from '../../../shared/cell.ts';

/** The body of a cell that is written some time after its trip was asked for. */
export interface LateBody {
  /** When it is written, in milliseconds since 1970. */
  readonly at: number;
  readonly body: Json;
}
