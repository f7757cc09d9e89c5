import { hasNoAnswer, Refused, send, type Asking } from './api.ts';

/** Asks the API, in the turn of whoever it was given to; one request after the other. Throws Refused. */
export type Ask = (path: string, asking?: Pick<Asking, 'method' | 'body' | 'shown'>) => Promise<unknown>;

/** Something that a screen shows, and how it is had. */
interface Shown<Data> {
  readonly load: (ask: Ask) => Promise<Data>;
  /** How old it may become, in milliseconds; infinite: it is asked for once. */
  readonly everyMs: number;
  readonly onData: (data: Data) => void;
  readonly onError: (error: Refused) => void;
}

interface Joined {
  /** Asks now. */
  readonly again: () => void;
  readonly leave: () => void;
}

interface Member extends Shown<unknown> {
  /** Not asked for before, by the page's clock. */
  from: number;
  /** Not left as it is for longer; infinite where it is not asked for again. */
  due: number;
  failures: number;
  known: Known | undefined;
  /** The API held its last request, or had another answer. */
  isHeld: boolean;
  /** It was to be asked for again while it was. */
  isWanted: boolean;
}

/** The answer to the first request of a member's last turn: it waits for another one. */
interface Known {
  readonly asked: string;
  readonly etag: string;
  readonly answer: unknown;
}

interface Turn {
  readonly member: Member;
  readonly ended: AbortController;
  /** The API holds its request, until there is something else. */
  isHeld: boolean;
}

/** What changes all the time is asked for once in so long. */
const PAUSE_MS = 1000;
const MOST_PAUSE_MS = 10_000;
/** What the API answers at once, and was to hold for a few seconds, is asked for once in so long. */
const UNHELD_MS = 2000;
const FEW_SECONDS_MS = 10_000;

const members = new Set<Member>();
let turn: Turn | undefined;
/** Of the connection, since the last answer. */
let failures = 0;
let wake: () => void = () => undefined;

/**
 * The one feed through which all that updates is asked for: one request at a time, whatever a screen shows, by turns.
 * Where nothing else is due the API holds the request until there is another answer, or until something is due, so
 * that what changes is here at once, and what does not costs little. Nothing is asked for while nobody looks. What
 * fails is asked for again, later and later, up to ten seconds; where no answer comes at all, all of it.
 */
export function join<Data>(shown: Shown<Data>): Joined {
  const now = performance.now();
  const asked = { from: now, due: now, failures: 0, known: undefined, isHeld: true, isWanted: false };
  const member: Member = { ...(shown as Shown<unknown>), ...asked };
  members.add(member);
  letGo();
  return {
    again: () => {
      member.from = member.due = performance.now();
      member.isWanted = turn?.member === member;
      letGo();
    },
    leave: () => {
      members.delete(member);
      if (turn?.member === member) turn.ended.abort();
    },
  };
}

/** Something is due now: what is held for something else is let go, to be asked for again after it. */
function letGo(): void {
  if (turn?.isHeld === true) turn.ended.abort();
  wake();
}

async function takeTurns(): Promise<never> {
  for (;;) {
    const [next] = [...members].toSorted((one, other) => one.due - other.due);
    const pauseMs = next && !document.hidden ? next.from - performance.now() : Number.POSITIVE_INFINITY;
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
  const own: Turn = { member, ended: new AbortController(), isHeld: false };
  turn = own;
  try {
    const data = await member.load(askerIn(own));
    if (!members.has(member)) return;
    settle(member);
    member.onData(data);
  } catch (error) {
    if (!members.has(member) || own.ended.signal.aborted) return;
    const refused = error instanceof Refused ? error : new Refused(0, { detail: String(error) }, undefined);
    putOff(member, refused);
    member.onError(refused);
  } finally {
    turn = undefined;
  }
}

function settle(member: Member): void {
  const now = performance.now();
  member.failures = 0;
  member.from = now + PAUSE_MS;
  member.due = now + Math.max(PAUSE_MS, member.everyMs);
  if (!member.isHeld && member.everyMs <= FEW_SECONDS_MS) member.due = now + Math.min(member.everyMs, UNHELD_MS);
  if (!member.isHeld || !Number.isFinite(member.due)) member.from = member.due;
  if (member.isWanted) member.from = member.due = now;
  member.isWanted = false;
  if (failures === 0) return;
  failures = 0;
  for (const other of members) if (other !== member && Number.isFinite(other.due)) other.from = other.due = now;
}

function putOff(member: Member, error: Refused): void {
  const isLost = hasNoAnswer(error);
  const count = isLost ? (failures += 1) : (member.failures += 1);
  const until = performance.now() + Math.min(MOST_PAUSE_MS, 500 * 2 ** count);
  for (const one of isLost ? members : [member]) if (Number.isFinite(one.due)) one.from = one.due = until;
}

/** How a member asks in its turn: its first request may be held, if it is that of its last turn. */
function askerIn(own: Turn): Ask {
  const { member, ended } = own;
  let isFirst = true;
  let last: Promise<unknown> = Promise.resolve();
  const first = async (path: string, asking: Asking): Promise<unknown> => {
    const asked = JSON.stringify([path, asking]);
    const known = member.known?.asked === asked ? member.known : undefined;
    const untilMs = Math.min(...[...members].map(({ due }) => due)) - performance.now();
    const seconds = known ? Math.max(0, Math.floor(untilMs / 1000)) : 0;
    own.isHeld = seconds > 0;
    const began = performance.now();
    try {
      const wait = { seconds, etag: known?.etag };
      const { answer, etag } = await send(path, { ...asking, wait, signal: ended.signal });
      const isSame = etag !== undefined && etag === known?.etag;
      // Functions of which there are few hold nothing: what they know is asked for when it is due.
      if (seconds > 0) member.isHeld = !isSame || performance.now() - began > (seconds * 1000) / 2;
      if (isSame) return known?.answer;
      member.known = etag === undefined ? undefined : { asked, etag, answer };
      return answer;
    } finally {
      own.isHeld = false;
    }
  };
  return (path, asking = {}) => {
    const mayBeHeld = isFirst && Number.isFinite(member.everyMs);
    isFirst = false;
    const one = last.then(async () =>
      mayBeHeld ? first(path, asking) : (await send(path, { ...asking, signal: ended.signal })).answer,
    );
    last = one.catch(() => undefined);
    return one;
  };
}

/** There may be an answer again, or none any more: what is known of it is old. */
function lookAnew(): void {
  const now = performance.now();
  for (const member of members) if (Number.isFinite(member.due)) member.from = member.due = now;
  letGo();
}

document.addEventListener('visibilitychange', () => wake());
addEventListener('online', lookAnew);
addEventListener('offline', lookAnew);
void takeTurns();
