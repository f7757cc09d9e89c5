/** Something that changes the store, on a person's word. */
export interface Action {
  readonly title: string;
  /** What of the API it needs. */
  readonly operation: string;
  /** The line of the command line that does the same, with the answer to `question`. */
  readonly cli: string | ((answer: string) => string);
  /** What is asked for besides, such as a reason. */
  readonly question?: string;
  /** It has to be answered. @default false */
  readonly needsAnswer?: boolean;
  /** Looks what it would do, and changes nothing. */
  readonly foresee: (signal: AbortSignal) => Promise<Foreseen>;
  /** Does it. Returns what was done. */
  readonly act: (doing: Doing) => Promise<string>;
  /** What has to be typed before, for what nothing brings back. */
  readonly word?: string;
  readonly onDone?: () => void;
}

/** What somebody does it with. */
export interface Doing {
  readonly report: (done: number, of: number) => void;
  readonly signal: AbortSignal;
  /** To `question`; empty where there is none. */
  readonly answer: string;
}

/** What will happen. */
export interface Foreseen {
  /** Whole sentences. */
  readonly says: string;
  readonly nothing?: boolean;
  /** Some of what it is done to, a line each. */
  readonly some?: readonly string[];
}
