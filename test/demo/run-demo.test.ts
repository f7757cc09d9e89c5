import { describe, expect, test } from 'vitest';
import type { CardService } from '../../functions/billing/card-service.ts';
import type { Role } from '../../shared/cell.ts';
import { loadDefinitions } from '../../shared/definitions/load-definitions.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import { billedStore, type BilledStore } from './billing/billed-store.ts';
import type { DemoStore } from './demo-store.ts';
import { runDemo } from './run-demo.ts';

const TRIPS_INDEXES = loadDefinitions('infra/datastores').datastores.find(({ name }) => name === 'trips')?.indexes ?? [];
/** So many cards decline that some of few trips are parked on the way. */
const DECLINE_RATE = 0.4;
const tripsStore = (cards?: (cards: CardService) => CardService): BilledStore => billedStore(referenceStore('trips', 8, TRIPS_INDEXES), DECLINE_RATE, cards);

const OPTIONS = { trips: 40, seed: 'test', size: 'usual', concurrency: 4, batch: 7 } as const;

interface Outcome {
  readonly failed: number;
  readonly text: string;
}

/** Runs the demo against a store whose readers answer as the writer does. */
async function demo(change: (store: BilledStore) => Partial<BilledStore>, cards?: (cards: CardService) => CardService): Promise<Outcome> {
  const honest = withReaders(tripsStore(cards));
  const store = { ...honest, ...change(honest) };
  const lines: string[] = [];
  const failed = await runDemo({
    store,
    options: OPTIONS,
    readers: true,
    patienceMs: 50,
    billingPatienceMs: 5000,
    lagSamples: 10,
    calmTrips: 10,
    starts: store.starts,
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
  });
  return { failed, text: lines.join('\n') };
}

function withReaders(store: BilledStore): BilledStore {
  const served = <Item extends object>(item: Item, read: Role | undefined): Item => ('served_by' in item ? { ...item, served_by: read ?? 'writer' } : item);
  return {
    ...store,
    batchGet: async (keys, options) => (await store.batchGet(keys, options)).map((item) => item && served(item, options?.read)),
    log: async (locations, options) => (await store.log(locations, options)).map((log) => served(log, options?.read)),
  };
}

test.concurrent('a store that keeps its promises passes', async () => {
  const { failed, text } = await demo(() => ({}));
  expect(failed).toBe(0);
  expect(text).toMatch(/\d+ checks passed$/);
});

test.concurrent('the two trips are shown with their versions, the latest marked', async () => {
  const { text } = await demo(() => ({}));
  const marks = text.split('\n').flatMap((line) => /^\s+(trip \d).*?(BASE|STATUS|NOTES)\s+(\d).*?(latest)?$/.exec(line)?.slice(1).join(' ') ?? []);
  expect(marks).toEqual(['trip 1 BASE 1 latest', 'trip 1 STATUS 0 ', 'trip 1 STATUS 1 latest', 'trip 2 BASE 1 ', 'trip 2 BASE 2 latest', 'trip 2 NOTES 1 latest', 'trip 2 STATUS 0 latest']);
});

test.concurrent('a run on the same trips again finds all of them stored before', async () => {
  const store = withReaders(tripsStore());
  await demo(() => store);
  const { failed, text } = await demo(() => store);
  expect(failed).toBe(0);
  expect(text).toMatch(/cells written .* stored_before \d+$/m);
  expect(text).not.toMatch(/ stored \d/);
});

test.concurrent('cells that are not confirmed at first are sent again', async () => {
  let calls = 0;
  const { failed, text } = await demo((store) => ({
    batchPut: async (cells) => {
      calls += 1;
      const unconfirmed = calls % 5 === 0;
      const results = await store.batchPut(cells);
      return unconfirmed ? results.map(({ shard }) => ({ outcome: 'unavailable', shard, reason: 'test' })) : results;
    },
  }));
  expect(failed, text).toBe(0);
  expect(text).toMatch(/repeated \d/);
});

describe('a store that breaks a promise fails', () => {
  test.concurrent('by losing a cell that it said was stored', async () => {
    const { failed, text } = await demo((store) => ({
      put: async (cell) => (cell.column_name === 'NOTES' ? { outcome: 'stored', shard: 0, added_id: 1 } : store.put(cell)),
    }));
    expect(failed).toBeGreaterThan(0);
    expect(text).toMatch(/wrong: .*\/NOTES\/\d: not found \(asked the writer\)/);
    expect(text).toMatch(/checks failed$/);
  });

  test.concurrent('by changing a body', async () => {
    const { text } = await demo((store) => ({
      batchPut: async (cells) => store.batchPut(cells.map((cell) => (cell.column_name === 'NOTES' ? { ...cell, body: { rating: 1 } } : cell))),
    }));
    expect(text).toMatch(/\/NOTES\/\d: another body/);
  });

  test.concurrent('by readers that lack a cell', async () => {
    const { text } = await demo((store) => ({
      batchGet: async (keys, options) =>
        (await store.batchGet(keys, options)).map((item, place) => (options?.read === 'reader' && keys[place]?.column_name === 'NOTES' ? null : item)),
    }));
    expect(text).toMatch(/\/NOTES\/\d: not found \(asked the reader\)/);
    expect(text).not.toMatch(/asked the writer/);
  });

  test.concurrent('by answering from writers when readers were asked', async () => {
    const { text } = await demo((store) => ({ batchGet: (keys) => store.batchGet(keys) }));
    expect(text).toMatch(/answered by the writer \(asked the reader\)/);
  });

  test.concurrent('by a hole in a log', async () => {
    const { text } = await demo((store) => ({
      log: async (locations, options) =>
        (await store.log(locations, options)).map((log) => (log.error === undefined ? { ...log, cells: log.cells.filter((cell) => cell.added_id !== 5) } : log)),
    }));
    expect(text).toMatch(/shard \d: after 4 in its log wanted 5, got 6/);
    expect(text).toMatch(/not in the log/);
  });

  test.concurrent('by a log that stops before its head', async () => {
    const { text } = await demo((store) => ({
      log: async (locations, options) =>
        (await store.log(locations, options)).map((log) => (log.error === undefined ? { ...log, cells: log.cells.filter((cell) => cell.added_id < 5) } : log)),
    }));
    expect(text).toMatch(/shard \d: its log ends at 4, wanted its head \d+ \(writer\)/);
  });

  test.concurrent('by a log that shows a cell twice', async () => {
    const { text } = await demo((store) => ({
      log: async (locations, options) =>
        (await store.log(locations, options)).map((log) =>
          log.error === undefined ? { ...log, cells: log.cells.flatMap((cell) => (cell.added_id === 4 ? [cell, { ...cell, added_id: 5 }] : [cell])) } : log,
        ),
    }));
    expect(text).toMatch(/twice in the log/);
  });
});

test.concurrent('without readers, says so and passes', async () => {
  const lines: string[] = [];
  const failed = await runDemo({
    store: tripsStore(),
    options: OPTIONS,
    lagSamples: 5,
    calmTrips: 5,
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
  const run = runDemo({ store: { ...store, batchPut }, options: OPTIONS, readers: false, signal: interrupt.signal, print: () => {} });
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
  test.concurrent('is shown: trips billed once each, attempts, parked cells, how soon the function started', async () => {
    const { failed, text } = await demo(() => ({}));
    expect(failed).toBe(0);
    expect(text).toMatch(/billed by the trigger +50 +trips, each exactly once: \d+ at attempt 1, \d+ at attempt 2, /);
    expect(Number(/parked on the way +(\d+)/.exec(text)?.[1])).toBeGreaterThan(0);
    expect(text).toMatch(/trigger lag +\d+\.\d \/ \d+\.\d ms +p50 \/ p99 of 10 cells, .* one trip after another/);
    expect(text).toMatch(/ under load +\d+\.\d \/ \d+\.\d ms +p50 \/ p99 of 4\d cells/);
  });

  test.concurrent('fails where a trip is not billed', async () => {
    const { failed, text } = await demo(() => ({ retryParked: async () => 0 }));
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
    const { text } = await demo(
      () => ({}),
      (cards) => ({ charge: (charge) => cards.charge({ ...charge, amount: charge.amount + 1 }) }),
    );
    expect(text).toMatch(/wrong: trip .*: charged [\d.]+, wanted [\d.]+/);
  });

  test.concurrent('fails where STATUS says what the books do not', async () => {
    const { text } = await demo(
      () => ({}),
      (cards) => ({ charge: async (charge) => ({ ...(await cards.charge(charge)), receipt: 'R0' }) }),
    );
    expect(text).toMatch(/wrong: trip .*: its STATUS says another bill than the books/);
  });

  test.concurrent('is left out where no trigger bills', async () => {
    const { failed, text } = await demo(() => ({ trigger: async () => Promise.reject(new SchemalessError('unknown_trigger', 'No trigger bill_rider')) }));
    expect(failed).toBe(0);
    expect(text).not.toContain('billed by the trigger');
  });
});
