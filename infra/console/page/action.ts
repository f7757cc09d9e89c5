export interface Action {
  readonly title: string;
  readonly operation: string;
  /** The line of the command line that does the same, with the answer to `question`. */
  readonly cli: string | ((answer: string) => string);
  readonly question?: string;
  readonly needsAnswer?: boolean;
  /** Looks what it would do, and changes nothing. */
  readonly foresee: (signal: AbortSignal) => Promise<Foreseen>;
  readonly act: (doing: Doing) => Promise<string>;
  /** What has to be typed before, for what nothing brings back. */
  readonly word?: string;
  readonly onDone?: () => void;
}

export interface Doing {
  readonly report: (done: number, of: number) => void;
  readonly signal: AbortSignal;
  /** To `question`; empty where there is none. */
  readonly answer: string;
}

export interface Foreseen {
  readonly says: string;
  readonly nothing?: boolean;
  /** Some of what it is done to, a line each. */
  readonly some?: readonly string[];
}
