import { asRefused, hasNoAnswer, pathOf, send, type Ask, type Asking, type Refused } from './api.ts';

/** Data of a screen, and how to load it. */
interface Shown<Data> {
  readonly datastore: string;
  /** Loads the data in its turn, one request after the other. */
  readonly load: (ask: Ask) => Promise<Data>;
  /** The poll interval in milliseconds; infinite: the data is loaded once. */
  readonly everyMs: number;
  readonly onData: (data: Data) => void;
  readonly onError: (error: Refused) => void;
}

interface Member extends Shown<unknown> {
  /** The time of the next poll, by the page's clock; infinite: none. */
  due: number;
  failures: number;
  /** The answers of its last turn, by path. */
  known: ReadonlyMap<string, Known>;
  /** Whether `again` was called during its turn. */
  isWanted: boolean;
}

interface Known {
  readonly etag: string;
  readonly answer: unknown;
}

interface Turn {
  readonly member: Member;
  readonly ended: AbortController;
}

const PAUSE_MS = 1000;
const MOST_PAUSE_MS = 10_000;

const members = new Set<Member>();
let turn: Turn | undefined;
/** Failures of the connection since the last answer. */
let failures = 0;
let wake: () => void = () => undefined;

/** Polls the data of a page, one request at a time, and none while it is hidden. Failures grow the pause. */
export function join<Data>(shown: Shown<Data>) {
  const member: Member = {
    ...(shown as Shown<unknown>),
    due: performance.now(),
    failures: 0,
    known: new Map(),
    isWanted: false,
  };
  members.add(member);
  wake();
  return {
    again: () => {
      member.due = performance.now();
      member.isWanted = turn?.member === member;
      wake();
    },
    leave: () => {
      members.delete(member);
      if (turn?.member === member) turn.ended.abort();
    },
  };
}

async function takeTurns(): Promise<never> {
  for (;;) {
    const [next] = [...members].toSorted((one, other) => one.due - other.due);
    const pauseMs = next && !document.hidden ? next.due - performance.now() : Number.POSITIVE_INFINITY;
    if (next && pauseMs <= 0) await takeTurn(next);
    else await sleep(pauseMs);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

async function takeTurn(member: Member): Promise<void> {
  const own: Turn = { member, ended: new AbortController() };
  turn = own;
  try {
    const data = await member.load(askerIn(own));
    if (!members.has(member)) return;
    settle(member);
    member.onData(data);
  } catch (error) {
    if (!members.has(member) || own.ended.signal.aborted) return;
    const refused = asRefused(error);
    putOff(member, refused);
    member.onError(refused);
  } finally {
    turn = undefined;
  }
}

function settle(member: Member): void {
  const now = performance.now();
  member.failures = 0;
  member.due = member.isWanted ? now : now + Math.max(PAUSE_MS, member.everyMs);
  member.isWanted = false;
  if (failures === 0) return;
  failures = 0;
  for (const other of members) if (other !== member && Number.isFinite(other.due)) other.due = now;
}

function putOff(member: Member, error: Refused): void {
  const isLost = hasNoAnswer(error);
  const count = isLost ? (failures += 1) : (member.failures += 1);
  const until = performance.now() + Math.min(MOST_PAUSE_MS, 500 * 2 ** count);
  for (const one of isLost ? members : [member]) if (Number.isFinite(one.due)) one.due = until;
}

/** Returns a member's asker for its turn: one request after the other, each GET with the tag of its last answer. */
function askerIn({ member, ended }: Turn): Ask {
  const before = member.known;
  const known = new Map<string, Known>();
  member.known = known;
  let last: Promise<unknown> = Promise.resolve();
  const one = async (path: string, asking: Asking): Promise<unknown> => {
    const had = asking.body === undefined ? before.get(path) : undefined;
    const { answer = had?.answer, etag } = await send(path, { ...asking, etag: had?.etag, signal: ended.signal });
    if (etag !== undefined) known.set(path, { etag, answer });
    return answer;
  };
  return <Answer>(parts: Parameters<Ask>[0], asking: Asking = {}) => {
    const asked = last.then(async () => one(pathOf(member.datastore, parts, asking), asking));
    last = asked.catch(() => undefined);
    return asked as Promise<Answer>;
  };
}

/** The browser went online or offline: everything is polled. */
function fetchAgain(): void {
  const now = performance.now();
  for (const member of members) if (Number.isFinite(member.due)) member.due = now;
  wake();
}

document.addEventListener('visibilitychange', () => wake());
addEventListener('online', fetchAgain);
addEventListener('offline', fetchAgain);
void takeTurns();

/** Yields the pages of a list, one after the other. */
export async function* pagesOf<Page extends { readonly next: string | number | null }>(
  ask: Ask,
  parts: readonly string[],
  query: Asking['query'] = {},
): AsyncGenerator<Page> {
  let after: string | number | undefined;
  do {
    const page = await ask<Page>(parts, { query: { ...query, after } });
    yield page;
    after = page.next ?? undefined;
  } while (after !== undefined);
}

/** Collects the items of pages, up to about `most`. */
export async function collected<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[],
  most = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const page of pages) {
    found.push(...itemsOf(page));
    if (found.length >= most) break;
  }
  return found;
}
