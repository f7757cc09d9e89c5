import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Refused, type Ask, type Session } from './api.ts';
import { shellWord } from './text.ts';

export interface Page {
  readonly session: Session;
  readonly datastore: string;
  /** Operations that this caller may not call: not offered again. */
  readonly refused: ReadonlySet<string>;
  readonly refuse: (operation: string) => void;
  readonly begin: (action: Begun) => void;
}

const PageContext = createContext<Page | undefined>(undefined);
export const PageProvider = PageContext.Provider;

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('asked for outside of the page');
  return page;
}

/** Returns whether the caller has no right to the operation at all. */
export function isDenied(error: unknown): boolean {
  return error instanceof Refused && error.status === 403 && (error.code === undefined || error.code === 'denied');
}

export type Words = readonly (string | number)[];

export function cliLine({ through }: Session, datastore: string, words: Words): string {
  const profile = through?.profile ?? undefined;
  const where = profile === undefined ? [] : ['--profile', profile];
  return ['schemaless', ...words, '-d', datastore, ...where].map((word) => shellWord(String(word))).join(' ');
}

export interface Action {
  readonly title: string;
  readonly operation: string;
  /** The equivalent command, with the answer to `question`. */
  readonly cli: Words | ((answer: string) => Words);
  readonly question?: string;
  readonly needsAnswer?: boolean;
  /** Returns the effect, and changes nothing. */
  readonly foresee: (ask: Ask) => Promise<Foreseen>;
  readonly act: (doing: Doing) => Promise<string>;
  /** The word to type before an irreversible action. */
  readonly word?: string;
  readonly onDone?: () => void;
}

/** An action on the datastore that was open when it began. */
export interface Begun extends Action {
  readonly datastore: string;
}

export interface Doing {
  readonly ask: Ask;
  readonly report: (done: number, of: number) => void;
  /** The answer to `question`; empty without one. */
  readonly answer: string;
}

export interface Foreseen {
  readonly says: string;
  readonly nothing?: boolean;
  /** Some of the affected items, a line each. */
  readonly some?: readonly string[];
}
