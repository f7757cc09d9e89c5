/** How far it is. */
export interface Progress {
  readonly cells: number;
  /** Of the input, what is done. */
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
