export interface Progress {
  readonly cells: number;
  readonly bytes?: number;
  readonly totalBytes?: number | undefined;
  readonly totalCells?: number | undefined;
  readonly counts?: Readonly<Record<string, number>>;
}

export interface FileProgress {
  tell(progress: Progress): void;
  stop(): void;
}
