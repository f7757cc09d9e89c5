import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Refused, type Session } from './api.ts';
import { shellWord } from './text.ts';

export interface Page {
  readonly session: Session;
  readonly datastore: string;
  /** Operations that this caller was refused: not offered again. */
  readonly refused: ReadonlySet<string>;
  readonly refuse: (operation: string) => void;
  readonly begin: (action: Action) => void;
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

export function useCli(...words: readonly string[]): string {
  const { session, datastore } = usePage();
  return cliLine({ session, datastore }, words);
}

export function cliLine({ session, datastore }: Pick<Page, 'session' | 'datastore'>, words: readonly string[]): string {
  const profile = session.through?.profile;
  const where = profile === null || profile === undefined ? [] : ['--profile', profile];
  return ['schemaless', ...words, '-d', datastore, ...where].map(shellWord).join(' ');
}

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
