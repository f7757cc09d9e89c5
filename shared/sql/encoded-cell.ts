import type { NewCell } from '../cell.ts';

export interface EncodedCell extends NewCell {
  readonly encoded: Uint8Array;
  /** When it was stored before: UTC, six decimals. Absent for a new cell. */
  readonly stored_at?: string;
}

export interface PlacedCell extends EncodedCell {
  readonly shard: number;
}

export interface BufferedCell extends PlacedCell {
  /** The write's id, 8 bytes. A hint lists the writes that rely on it, so that repeated statements count once. */
  readonly writer: Uint8Array;
}
