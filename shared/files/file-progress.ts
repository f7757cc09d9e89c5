/** How far it is. */
export interface Progress {
  readonly cells: number;
  /** Of the files read, or of the cells written. */
  readonly bytes?: number;
  /** Undefined where nobody knows. */
  readonly totalBytes?: number | undefined;
  readonly totalCells?: number | undefined;
  /** What became of them. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** Is told how far it is, as often as somebody likes. */
export interface FileProgress {
  tell(progress: Progress): void;
  stop(): void;
}
