import { describe, expect, test } from 'vitest';
import type { CardService } from '../../functions/examples/billing/card-service.ts';
import type { Cell, NewCell, PutResult, Role } from '../../shared/cell.ts';
import { loadDefinitions } from '../../shared/definitions/load-definitions.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { shardOf } from '../../shared/address.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import { billedStore } from './billing/billed-store.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { runDemo, type DemoRun } from './run-demo.ts';

const TRIPS_INDEXES =
  loadDefinitions('infra/datastores').datastores.find(({ name }) => name === 'trips')?.indexes ?? [];
const SHARDS = 8;
/** So many cards decline that some of few trips are parked on the way. */
const DECLINE_RATE = 0.4;
const tripsStore = (cards?: (cards: CardService) => CardService): DemoStore =>
  billedStore(referenceStore('trips', SHARDS, TRIPS_INDEXES), DECLINE_RATE, cards);

const OPTIONS = { trips: 40, seed: 'test', size: 'usual', concurrency: 4, batch: 7 } as const;

/** For what is never right. */
const IMPATIENT = { patienceMs: 50, confirmedWithinMs: 1500 };
/** For what is right in the end: all of these tests share a thread. */
const PATIENT = { patienceMs: 10_000, confirmedWithinMs: 10_000 };

interface Outcome {
  readonly failed: number;
  readonly text: string;
}

type Change = (store: DemoStore) => Partial<DemoStore>;
const UNCHANGED: Change = () => ({});

/** Runs the demo against a store whose readers answer as the writer does. */
async function demo(
  change = UNCHANGED,
  { cards, ...clocks }: Partial<DemoRun> & { readonly cards?: (cards: CardService) => CardService } = IMPATIENT,
): Promise<Outcome> {
  const honest = withReaders(tripsStore(cards));
  const store = { ...honest, ...change(honest) };
  const lines: string[] = [];
  const failed = await runDemo({
    store,
    options: OPTIONS,
    readers: true,
    billingPatienceMs: 15_000,
    ...clocks,
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
  });
  return { failed, text: lines.join('\n') };
}

function withReaders(store: DemoStore): DemoStore {
  const served = <Item extends object>(item: Item, read: Role | undefined): Item =>
    'served_by' in item ? { ...item, served_by: read ?? 'writer' } : item;
  return {
    ...store,
    batchGet: async (keys, options) =>
      (await store.batchGet(keys, options)).map((item) => item && served(item, options?.read)),
    log: async (locations, options) => (await store.log(locations, options)).map((log) => served(log, options?.read)),
  };
}

const unconfirmed = (cells: readonly NewCell[]): readonly PutResult[] =>
  cells.map(() => ({ outcome: 'unavailable', shard: 0, reason: 'test' }));
const buffered = (cells: readonly NewCell[]): readonly PutResult[] =>
  cells.map(({ row_key }) => ({ outcome: 'buffered', shard: shardOf(row_key, SHARDS), copies: 1 }));
const later = (write: () => Promise<unknown>, cells: readonly NewCell[]): readonly PutResult[] => {
  setTimeout(() => void write(), 20);
  return buffered(cells);
};
/** The two trips to look at; those of the many have more than four cells. */
const isModel = (cells: readonly NewCell[]): boolean =>
  cells.length <= 3 && cells.some(({ body }) => 'from' in Object(body));
/** Batches of the two trips are put so. */
const putsOfModel =
  (put: (cells: readonly NewCell[], store: DemoStore) => readonly PutResult[]): Change =>
  (store) => ({ batchPut: async (cells) => (isModel(cells) ? put(cells, store) : store.batchPut(cells)) });
/** Puts of notes are answered so, and nothing is done. */
const notesAnswered =
  (answer: PutResult): Change =>
  (store) => ({ put: async (cell) => (cell.column_name === 'NOTES' ? answer : store.put(cell)) });
/** Logs show their cells so. */
const logsShow =
  (change: (cells: readonly Cell[]) => readonly Cell[]): Change =>
  (store) => ({
    log: async (locations, options) =>
      (await store.log(locations, options)).map((log) =>
        log.error === undefined ? { ...log, cells: change(log.cells) } : log,
      ),
  });
const wrongs = (text: string): readonly string[] => text.split('\n').filter((line) => line.includes('wrong: '));

test.concurrent('a store that keeps its promises passes', async () => {
  const { failed, text } = await demo();
  expect(failed).toBe(0);
  expect(text).toMatch(/\d+ checks passed$/);
});

test.concurrent('the two trips are shown with their versions, the latest marked', async () => {
  const { text } = await demo();
  const marks = text
    .split('\n')
    .flatMap((line) => /^\s+(trip \d).*?(BASE|STATUS|NOTES)\s+(\d).*?(latest)?$/.exec(line)?.slice(1).join(' ') ?? []);
  expect(marks).toEqual([
    'trip 1 BASE 1 latest',
    'trip 1 STATUS 0 ',
    'trip 1 STATUS 1 latest',
    'trip 2 BASE 1 ',
    'trip 2 BASE 2 latest',
    'trip 2 NOTES 1 latest',
    'trip 2 STATUS 0 latest',
  ]);
});

test.concurrent('a run on the same trips again finds all of them stored before', async () => {
  const store = withReaders(tripsStore());
  await demo(() => store);
  const { failed, text } = await demo(() => store);
  expect(failed).toBe(0);
  expect(text).toMatch(/cells written .* stored_before \d+$/m);
  expect(text).not.toMatch(/ stored \d/);
});

test.concurrent('cells that are buffered though they were there before are found in the logs', async () => {
  const store = withReaders(tripsStore());
  await demo(() => store);
  const bufferedAgain = { ...store, batchPut: async (cells: readonly NewCell[]) => buffered(cells) };
  const { failed, text } = await demo(() => bufferedAgain, PATIENT);
  expect(failed, text).toBe(0);
});

test.concurrent('cells that are not confirmed at first are sent again', async () => {
  let calls = 0;
  const everyFifthUnconfirmed: Change = (store) => ({
    batchPut: async (cells) => {
      calls += 1;
      const isUnconfirmed = calls % 5 === 0;
      const results = await store.batchPut(cells);
      return isUnconfirmed ? results.map(({ shard }) => ({ outcome: 'unavailable', shard, reason: 'test' })) : results;
    },
  });
  const { failed, text } = await demo(everyFifthUnconfirmed, PATIENT);
  expect(failed, text).toBe(0);
  expect(text).toMatch(/repeated \d/);
});

test.concurrent('the two trips are sent again until they are confirmed', async () => {
  let refusals = 2;
  const { failed, text } = await demo(
    (store) => ({ batchPut: async (cells) => (refusals-- > 0 ? unconfirmed(cells) : store.batchPut(cells)) }),
    PATIENT,
  );
  expect(failed, text).toBe(0);
});

test.concurrent('cells of the two trips that are not readable yet are waited for', async () => {
  const put = putsOfModel((cells, store) => later(() => store.batchPut(cells), cells));
  const { failed, text } = await demo(put, PATIENT);
  expect(failed, text).toBe(0);
});

test.concurrent('what a reader answers in place of a writer that is down is asked for again', async () => {
  const asked = new Set<string>();
  const firstByReader: Change = (store) => ({
    versions: async (key, options) => {
      const column = `${key.row_key}/${key.column_name}`;
      const isFirst = !asked.has(column);
      asked.add(column);
      return isFirst ? { cells: [], next: null, served_by: 'reader', stale: true } : store.versions(key, options);
    },
  });
  const { failed, text } = await demo(firstByReader, PATIENT);
  expect(failed, text).toBe(0);
});

describe('what was not written is reported as that, once, and not as lost', () => {
  test.concurrent('where the two trips stay unconfirmed', async () => {
    const { failed, text } = await demo(putsOfModel(unconfirmed));
    expect(wrongs(text)).toEqual(
      [1, 2, 3, 4].map(() => expect.stringMatching(/\/(BASE|NOTES)\/\d: not confirmed within 1\.5 s: test$/)),
    );
    expect(failed).toBe(4);
  });

  test.concurrent('where the two trips stay in a buffer', async () => {
    const { text } = await demo(putsOfModel(buffered), { ...IMPATIENT, billingPatienceMs: 500 });
    expect(wrongs(text).filter((line) => /\/(?:BASE|NOTES)/u.test(line))).toEqual(
      ['BASE', 'BASE', 'NOTES'].map((column) => {
        const wrong = `/${column}: wanted ref keys .*, got none; answered buffered, and not readable after 0.05 s$`;
        return expect.stringMatching(new RegExp(wrong));
      }),
    );
  });

  test.concurrent('where the store has no room for notes', async () => {
    const { failed, text } = await demo(notesAnswered({ outcome: 'unavailable', shard: 0, reason: 'test' }));
    expect(failed).toBeGreaterThan(0);
    expect(wrongs(text)).toEqual(
      wrongs(text).map(() => expect.stringMatching(/\/NOTES\/\d: not confirmed within 1\.5 s: test$/)),
    );
  });

  test.concurrent('where notes have another body', async () => {
    const { text } = await demo(notesAnswered({ outcome: 'conflict', shard: 0 }));
    expect(wrongs(text)).toEqual(
      wrongs(text).map(() => expect.stringMatching(/\/NOTES\/\d: another body is at this address$/)),
    );
  });

  test.concurrent('where notes stay in a buffer', async () => {
    const { text } = await demo(notesAnswered({ outcome: 'buffered', shard: 0, copies: 1 }));
    expect(text).toMatch(/\/NOTES\/\d: not found \(asked the writer; its put was answered buffered\)/);
  });
});

describe('a store that breaks a promise fails', () => {
  test.concurrent('by losing a cell that it said was stored', async () => {
    const { failed, text } = await demo(notesAnswered({ outcome: 'stored', shard: 0, added_id: 1 }));
    expect(failed).toBeGreaterThan(0);
    expect(text).toMatch(/wrong: .*\/NOTES\/\d: not found \(asked the writer\)/);
    expect(text).toMatch(/checks failed$/);
  });

  test.concurrent('by changing a body', async () => {
    const { text } = await demo((store) => ({
      batchPut: async (cells) =>
        store.batchPut(cells.map((cell) => (cell.column_name === 'NOTES' ? { ...cell, body: { rating: 1 } } : cell))),
    }));
    expect(text).toMatch(/\/NOTES\/\d: another body/);
  });

  test.concurrent('by readers that lack a cell', async () => {
    const { text } = await demo((store) => ({
      batchGet: async (keys, options) =>
        (await store.batchGet(keys, options)).map((item, position) =>
          options?.read === 'reader' && keys[position]?.column_name === 'NOTES' ? null : item,
        ),
    }));
    expect(text).toMatch(/\/NOTES\/\d: not found \(asked the reader\)/);
    expect(text).not.toMatch(/asked the writer/);
  });

  test.concurrent('by answering from writers when readers were asked', async () => {
    const { text } = await demo((store) => ({ batchGet: (keys) => store.batchGet(keys) }));
    expect(text).toMatch(/answered by the writer \(asked the reader\)/);
  });

  test.concurrent('by a hole in a log', async () => {
    const { text } = await demo(logsShow((cells) => cells.filter(({ added_id }) => added_id !== 5)));
    expect(text).toMatch(/shard \d: after 4 in its log wanted 5, got 6/);
    expect(text).toMatch(/not in the log/);
  });

  test.concurrent('by a log that stops before its head', async () => {
    const { text } = await demo(logsShow((cells) => cells.filter(({ added_id }) => added_id < 5)));
    expect(text).toMatch(/shard \d: its log ends at 4, wanted its head \d+ \(writer\)/);
  });

  test.concurrent('by a log that shows a cell twice', async () => {
    const { text } = await demo(
      logsShow((cells) => cells.flatMap((cell) => (cell.added_id === 4 ? [cell, { ...cell, added_id: 5 }] : [cell]))),
    );
    expect(text).toMatch(/twice in the log/);
  });
});

test.concurrent('without readers, says so and passes', async () => {
  const lines: string[] = [];
  const failed = await runDemo({
    store: tripsStore(),
    options: OPTIONS,
    readers: false,
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
  });
  expect(failed).toBe(0);
  expect(lines.join('\n')).toMatch(/equal from readers +- +no reader runs/);
});

test.concurrent('an interrupt ends it', async () => {
  const interrupt = new AbortController();
  const store = tripsStore();
  let calls = 0;
  const batchPut: DemoStore['batchPut'] = (cells) => {
    calls += 1;
    if (calls === 5) interrupt.abort();
    return store.batchPut(cells);
  };
  const run = runDemo({
    store: { ...store, batchPut },
    options: OPTIONS,
    readers: false,
    signal: interrupt.signal,
    print: () => {},
  });
  await expect(run).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  expect(calls).toBeLessThan(10);
});

test.concurrent('an index that lacks a trip is noticed', async () => {
  const { failed, text } = await demo((store) => ({
    query: async (query) => {
      const answer = await store.query(query);
      return { ...answer, entries: answer.entries.slice(1) };
    },
    put: async (cell) => ({ ...(await store.put(cell)), outcome: 'buffered', copies: 1 }),
  }));
  expect(failed).toBeGreaterThan(0);
  expect(text).toMatch(/index: wanted \d+ trips, 1 of them missing/);
});

describe('the billing', () => {
  test.concurrent('is shown: trips billed once each, attempts, parked cells', async () => {
    const { failed, text } = await demo();
    expect(failed).toBe(0);
    expect(text).toMatch(/billed by the trigger +40 +trips, each exactly once: \d+ at attempt 1, \d+ at attempt 2, /);
    expect(Number(/parked on the way +(\d+)/.exec(text)?.[1])).toBeGreaterThan(0);
  });

  test.concurrent('fails where a trip is not billed', async () => {
    const neverRetried: Change = () => ({ retryParked: async () => ({ count: 0, not_parked: [] }) });
    const { failed, text } = await demo(neverRetried, { ...IMPATIENT, billingPatienceMs: 2000 });
    expect(failed).toBeGreaterThan(0);
    expect(text).toMatch(/wrong: bill_rider: \d+ trips are not billed, .*; it is running, 0 cells behind, \d+ parked/);
    expect(text).toMatch(/wrong: trip .*: charged 0 times, wanted once/);
  });

  test.concurrent('fails where a trip is charged twice', async () => {
    const { text } = await demo((store) => ({
      versions: async (key, options) => {
        const page = await store.versions(key, options);
        return key.column_name === 'CHARGE' ? { ...page, cells: [...page.cells, ...page.cells] } : page;
      },
    }));
    expect(text).toMatch(/wrong: trip .*: charged 2 times, wanted once/);
  });

  test.concurrent('fails where another amount is charged', async () => {
    const { text } = await demo(UNCHANGED, {
      ...IMPATIENT,
      cards: (cards) => ({ charge: (charge) => cards.charge({ ...charge, amount: charge.amount + 1 }) }),
    });
    expect(text).toMatch(/wrong: trip .*: charged [\d.]+, wanted [\d.]+/);
  });

  test.concurrent('fails where STATUS says what the books do not', async () => {
    const { text } = await demo(UNCHANGED, {
      ...IMPATIENT,
      cards: (cards) => ({ charge: async (charge) => ({ ...(await cards.charge(charge)), receipt: 'R0' }) }),
    });
    expect(text).toMatch(/wrong: trip .*: its STATUS says another bill than the books/);
  });

  test.concurrent('is left out where no trigger bills', async () => {
    const { failed, text } = await demo(() => ({
      trigger: async () => Promise.reject(new SchemalessError('unknown_trigger', 'No trigger bill_rider')),
    }));
    expect(failed).toBe(0);
    expect(text).not.toContain('billed by the trigger');
  });
});
