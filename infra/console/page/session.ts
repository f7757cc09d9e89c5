import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Refused, type Ask, type Session } from './api.ts';
import { shellWord } from './text.ts';

export interface Page {
  readonly session: Session;
  readonly datastore: string;
  /** Operations that this caller was refused: not offered again. */
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

/** Whether somebody may not do this at all, whatever it is done to. */
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
  /** What does the same on the command line, with the answer to `question`. */
  readonly cli: Words | ((answer: string) => Words);
  readonly question?: string;
  readonly needsAnswer?: boolean;
  /** Looks what it would do, and changes nothing. */
  readonly foresee: (ask: Ask) => Promise<Foreseen>;
  readonly act: (doing: Doing) => Promise<string>;
  /** What has to be typed before, for what nothing brings back. */
  readonly word?: string;
  readonly onDone?: () => void;
}

/** An action on the datastore that was looked at then. */
export interface Begun extends Action {
  readonly datastore: string;
}

export interface Doing {
  readonly ask: Ask;
  readonly report: (done: number, of: number) => void;
  /** To `question`; empty where there is none. */
  readonly answer: string;
}

export interface Foreseen {
  readonly says: string;
  readonly nothing?: boolean;
  /** Some of what it is done to, a line each. */
  readonly some?: readonly string[];
}
