import { describe, expect, test } from 'vitest';
import type { CardService } from '../../functions/examples/billing/card-service.ts';
import type { Cell, NewCell, PutResult, Role } from '../../shared/cell.ts';
import { loadDefinitions } from '../../shared/definitions/load-definitions.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { shardOf } from '../../shared/address.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { billedStore } from './billing/billed-store.ts';
import { runDemo, type DemoRun } from './run-demo.ts';

const { indexes = [] } = loadDefinitions('infra/datastores').datastores.find(({ name }) => name === 'trips') ?? {};
const SHARDS = 8;
const DECLINE_RATE = 0.4;
const OPTIONS = { trips: 30, seed: 'test 0', size: 'usual', concurrency: 4, batch: 2 } as const;
/** A card of one of its trips declines so often that the trip is parked on the way. */
const PARKING = { ...OPTIONS, seed: 'test 2' };

/** For what is never right. */
const IMPATIENT = { patienceMs: 0, confirmedWithinMs: 0 };

type Cards = (cards: CardService) => CardService;
type Change = (store: DemoStore) => Partial<DemoStore>;
type Settings = Partial<DemoRun> & { readonly cards?: Cards };
const UNCHANGED: Change = () => ({});

const tripsStore = (cards?: Cards): DemoStore =>
  withReaders(billedStore(referenceStore('trips', SHARDS, indexes), DECLINE_RATE, cards));

/** Its readers answer as the writer does. */
function withReaders(store: DemoStore): DemoStore {
  const served = <Item extends object>(item: Item, read: Role = 'writer'): Item =>
    'served_by' in item ? { ...item, served_by: read } : item;
  return {
    ...store,
    batchGet: async (keys, options) =>
      (await store.batchGet(keys, options)).map((item) => item && served(item, options?.read)),
    log: async (locations, options) => (await store.log(locations, options)).map((log) => served(log, options?.read)),
  };
}

/** Runs the demo against a store that is changed so. */
async function demo(
  change = UNCHANGED,
  { cards, ...run }: Settings = {},
): Promise<{ readonly failed: number; readonly text: string; readonly wrongs: readonly string[] }> {
  const honest = tripsStore(cards);
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const { signal } = new AbortController();
  const store = { ...honest, ...change(honest) };
  const failed = await runDemo({ store, options: OPTIONS, readers: true, ...run, signal, print });
  const text = lines.join('\n');
  return { failed, text, wrongs: text.split('\n').filter((line) => line.includes('wrong: ')) };
}

const unconfirmed = (cells: readonly NewCell[]): readonly PutResult[] =>
  cells.map(() => ({ outcome: 'unavailable', shard: 0, reason: 'test' }));
const buffered = (cells: readonly NewCell[]): readonly PutResult[] =>
  cells.map(({ row_key }) => ({ outcome: 'buffered', shard: shardOf(row_key, SHARDS), copies: 1 }));
/** The two trips to look at; those of the many have more than four cells. */
const isModel = (cells: readonly NewCell[]): boolean =>
  cells.length <= 3 && cells.some(({ body }) => 'from' in Object(body));
/** Batches of the two trips are answered so, and nothing is done. */
const modelAnswered =
  (answer: (cells: readonly NewCell[]) => readonly PutResult[]): Change =>
  (store) => ({ batchPut: async (cells) => (isModel(cells) ? answer(cells) : store.batchPut(cells)) });
/** Puts of notes are answered so, and nothing is done. */
const notesAnswered =
  (answer: PutResult): Change =>
  (store) => ({ put: async (cell) => (cell.column_name === 'NOTES' ? answer : store.put(cell)) });
const logsShow =
  (change: (cells: readonly Cell[]) => readonly Cell[]): Change =>
  (store) => ({
    log: async (locations, options) =>
      (await store.log(locations, options)).map((log) =>
        log.error === undefined ? { ...log, cells: change(log.cells) } : log,
      ),
  });

test('a store that keeps its promises passes: the two trips, and each of the many billed once', async () => {
  const { failed, text } = await demo(UNCHANGED, { options: PARKING });
  expect(failed, text).toBe(0);
  expect(text).toMatch(/\d+ checks passed$/);
  expect(text).toMatch(/billed by the trigger +30 +trips, each exactly once: \d+ at attempt 1, \d+ at attempt 2, /);
  expect(Number(/parked on the way +(\d+)/.exec(text)?.[1])).toBeGreaterThan(0);
  const marks = text
    .split('\n')
    .flatMap((line) => /^\s+(trip \d).*?(BASE|STATUS|NOTES)\s+(\d).*?(latest)?$/.exec(line)?.slice(1).join(' ') ?? []);
  expect(marks.filter((mark) => !mark.includes('STATUS'))).toEqual([
    'trip 1 BASE 1 latest',
    'trip 2 BASE 1 ',
    'trip 2 BASE 2 latest',
    'trip 2 NOTES 1 latest',
  ]);
  expect(marks.filter((mark) => /STATUS.*latest/u.test(mark))).toHaveLength(2);
});

test('another run on the same trips finds all of them stored before, those that are buffered, too', async () => {
  const store = tripsStore();
  await demo(() => store);
  const again = await demo(() => store);
  expect(again.failed, again.text).toBe(0);
  expect(again.text).toMatch(/cells written .* stored_before \d+$/m);
  expect(again.text).not.toMatch(/ stored \d/);
  const late = await demo(() => ({ ...store, batchPut: async (cells: readonly NewCell[]) => buffered(cells) }));
  expect(late.failed, late.text).toBe(0);
});

test('what is not confirmed is sent again; what is not readable yet, or read from behind, is read again', async () => {
  const pending: (readonly NewCell[])[] = [];
  const behind = new Set<string>();
  let batches = 0;
  const { failed, text } = await demo((store) => ({
    async batchPut(cells) {
      batches += 1;
      if (batches <= 2) return unconfirmed(cells);
      if (isModel(cells)) return (pending.push(cells), buffered(cells));
      const isUnconfirmed = batches % 5 === 0;
      const results = await store.batchPut(cells);
      return isUnconfirmed ? unconfirmed(cells) : results;
    },
    async versions(key, options) {
      const page = await store.versions(key, options);
      // Written behind the first look.
      for (const cells of pending.splice(0)) await store.batchPut(cells);
      const column = `${key.row_key}/${key.column_name}`;
      const isFirst = !behind.has(column);
      behind.add(column);
      return isFirst ? { cells: [], next: null, served_by: 'reader', stale: true } : page;
    },
  }));
  expect(failed, text).toBe(0);
  expect(text).toMatch(/repeated \d/);
});

describe('what was not written is reported as that, once, and not as lost', () => {
  test.concurrent.each<[string, Change, RegExp, number?]>([
    [
      'the two trips stay unconfirmed',
      modelAnswered(unconfirmed),
      /\/(BASE|NOTES)\/\d: not confirmed within 0 s: test$/,
      4,
    ],
    [
      'the store has no room for notes',
      notesAnswered({ outcome: 'unavailable', shard: 0, reason: 'test' }),
      /\/NOTES\/\d: not confirmed within 0 s: test$/,
    ],
    [
      'notes have another body',
      notesAnswered({ outcome: 'conflict', shard: 0 }),
      /\/NOTES\/\d: another body is at this address$/,
    ],
  ])('where %s', async (_where, change, wrong, count) => {
    const { failed, wrongs } = await demo(change, IMPATIENT);
    expect(failed).toBeGreaterThan(0);
    expect(wrongs).toEqual(wrongs.map(() => expect.stringMatching(wrong)));
    if (count !== undefined) expect(failed).toBe(count);
  });
});

test.concurrent.each<[string, Change, RegExp, Settings?]>([
  [
    'losing a cell that it said was stored',
    notesAnswered({ outcome: 'stored', shard: 0, added_id: 1 }),
    /wrong: .*\/NOTES\/\d: not found \(asked the writer\)/,
  ],
  [
    'never appending what it buffered',
    notesAnswered({ outcome: 'buffered', shard: 0, copies: 1 }),
    /\/NOTES\/\d: not found \(asked the writer; its put was answered buffered\)/,
  ],
  [
    'never appending the two trips',
    modelAnswered(buffered),
    /\/BASE\/1: versions: wanted ref keys 2, 1, got none/,
    { billingPatienceMs: 0 },
  ],
  [
    'changing a body',
    (store) => ({
      batchPut: (cells) =>
        store.batchPut(cells.map((cell) => (cell.column_name === 'NOTES' ? { ...cell, body: { rating: 1 } } : cell))),
    }),
    /\/NOTES\/\d: another body/,
  ],
  [
    'readers that lack a cell',
    (store) => ({
      batchGet: async (keys, options) =>
        (await store.batchGet(keys, options)).map((item, position) =>
          options?.read === 'reader' && keys[position]?.column_name === 'NOTES' ? null : item,
        ),
    }),
    /\/NOTES\/\d: not found \(asked the reader\)/,
  ],
  [
    'answering from writers when readers were asked',
    (store) => ({ batchGet: (keys) => store.batchGet(keys) }),
    /answered by the writer \(asked the reader\)/,
  ],
  [
    'a hole in a log',
    logsShow((cells) => cells.filter(({ added_id }) => added_id !== 5)),
    /shard \d: after 4 in its log wanted 5, got 6[^]*not in the log/,
  ],
  [
    'a log that stops before its head',
    logsShow((cells) => cells.filter(({ added_id }) => added_id < 5)),
    /shard \d: its log ends at 4, wanted its head \d+ \(writer\)/,
  ],
  [
    'a log that shows a cell twice',
    logsShow((cells) => cells.flatMap((cell) => (cell.added_id === 4 ? [cell, { ...cell, added_id: 5 }] : [cell]))),
    /twice in the log/,
  ],
  [
    'an index that lacks a trip',
    (store) => ({
      async query(query) {
        const answer = await store.query(query);
        return { ...answer, entries: answer.entries.slice(1) };
      },
    }),
    /index: wanted \d+ trips, 1 of them missing/,
  ],
  [
    'a trip that is not billed',
    () => ({ retryParkedCells: async () => ({ wanted: 0, not_parked: [] }) }),
    /wrong: bill_rider: \d+ trips are not billed, .*; it is running, 0 cells behind, \d+ parked\n[^]*: charged 0 times, wanted once/,
    { billingPatienceMs: 0, options: PARKING },
  ],
  [
    'a trip that is charged twice',
    (store) => ({
      async versions(key, options) {
        const page = await store.versions(key, options);
        return key.column_name === 'CHARGE' ? { ...page, cells: [...page.cells, ...page.cells] } : page;
      },
    }),
    /wrong: trip .*: charged 2 times, wanted once/,
  ],
  [
    'another amount that is charged',
    UNCHANGED,
    /wrong: trip .*: charged [\d.]+, wanted [\d.]+/,
    { cards: (cards) => ({ charge: (charge) => cards.charge({ ...charge, amount: charge.amount + 1 }) }) },
  ],
  [
    'a STATUS that says what the books do not',
    UNCHANGED,
    /wrong: trip .*: its STATUS says another bill than the books/,
    { cards: (cards) => ({ charge: async (charge) => ({ ...(await cards.charge(charge)), receipt: 'R0' }) }) },
  ],
])('a store that breaks a promise fails, by %s', async (_how, change, wrong, settings) => {
  const { failed, text } = await demo(change, { ...IMPATIENT, ...settings });
  expect(failed).toBeGreaterThan(0);
  expect(text).toMatch(wrong);
  expect(text).toMatch(/checks failed$/);
});

test('without readers and without the trigger, says so and passes', async () => {
  const noTrigger: Change = () => ({
    getTrigger: () => Promise.reject(new SchemalessError('unknown_trigger', 'No trigger bill_rider')),
  });
  const { failed, text } = await demo(noTrigger, { readers: false });
  expect(failed).toBe(0);
  expect(text).toMatch(/equal from readers +- +no reader runs/);
  expect(text).not.toContain('billed by the trigger');
});

test('an interrupt ends it', async () => {
  const interrupt = new AbortController();
  const store = tripsStore();
  let calls = 0;
  const batchPut: DemoStore['batchPut'] = (cells) => {
    calls += 1;
    if (calls === 5) interrupt.abort();
    return store.batchPut(cells);
  };
  const { signal } = interrupt;
  const run = runDemo({ store: { ...store, batchPut }, options: OPTIONS, readers: false, signal, print: () => {} });
  await expect(run).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  expect(calls).toBeLessThan(10);
});
