import { expect, test } from 'vitest';
import type { CardService } from '../../functions/examples/billing/card-service.ts';
import type { Cell, NewCell, PutResult, Role } from '../../shared/cell.ts';
import { loadDefinitions } from '../../shared/definitions/load-definitions.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { referenceStore } from '../support/reference-store.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { identity } from '../support/trips/identity.ts';
import { billedStore } from './billed-store.ts';
import type { DemoClient } from './recheck.ts';
import { runDemo, type DemoRun } from './run-demo.ts';

const { indexes = [] } = loadDefinitions('infra/datastores').datastores.find(({ name }) => name === 'trips') ?? {};
const SHARDS = 8;
const DECLINE_RATE = 0.4;
const TRIPS = { trips: 30, seed: 'test 0' };
/** A card of one of its trips declines so often that the trip is parked on the way. */
const PARKING = { trips: 30, seed: 'test 2' };

/** For what is never right. */
const IMPATIENT = { patienceMs: 50, tries: 1 };

type Cards = (cards: CardService) => CardService;
type Change = (store: DemoClient) => Partial<DemoClient>;
type Settings = Partial<DemoRun> & { readonly cards?: Cards };
const UNCHANGED: Change = () => ({});

const tripsStore = (cards?: Cards): DemoClient =>
  asClient(withReaders(billedStore(referenceStore('trips', SHARDS, indexes), DECLINE_RATE, cards)));

/** In memory no call has to be bounded. */
function asClient(store: DemoStore): DemoClient {
  const client: DemoClient = { ...store, with: () => client as unknown as SchemalessClient };
  return client;
}

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
  const store = asClient({ ...honest, ...change(honest) });
  const failed = await runDemo({ ...TRIPS, store, readers: true, ...run, signal, print });
  const text = lines.join('\n');
  return { failed, text, wrongs: text.split('\n').filter((line) => line.includes('wrong: ')) };
}

/** Whether a cell is of the two model trips. */
const isModel = ({ row_key }: NewCell): boolean =>
  ['15', '2'].map((n) => identity(`model trip/${n}`)).includes(row_key);
const isNote = (cell: NewCell): boolean => cell.column_name === 'NOTES' && !isModel(cell);
/** Such cells are answered so, and nothing is done with them. */
const answered =
  (isMeant: (cell: NewCell) => boolean, answer: PutResult): Change =>
  (store) => ({
    async batchPut(cells) {
      const others = await store.batchPut(cells.filter((cell) => !isMeant(cell)));
      const results = others.values();
      return cells.map((cell) => (isMeant(cell) ? answer : (results.next().value ?? answer)));
    },
  });
const UNAVAILABLE: PutResult = { outcome: 'unavailable', shard: 0, reason: 'test' };
const BUFFERED: PutResult = { outcome: 'buffered', shard: 0, copies: 1 };
const logsShow =
  (change: (cells: readonly Cell[]) => readonly Cell[]): Change =>
  (store) => ({
    log: async (locations, options) =>
      (await store.log(locations, options)).map((log) =>
        log.error === undefined ? { ...log, cells: change(log.cells) } : log,
      ),
  });

test('a store that keeps its promises passes: the two trips, and each of the many billed once', async () => {
  const { failed, text } = await demo(UNCHANGED, PARKING);
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
  const late = await demo(() => ({
    ...store,
    batchPut: async (cells: readonly NewCell[]) => cells.map(() => BUFFERED),
  }));
  expect(late.failed, late.text).toBe(0);
});

test('unconfirmed writes are sent again; cells that are not readable yet, or were read from a stale reader, are read again', async () => {
  const pending: NewCell[] = [];
  const behind = new Set<string>();
  let batches = 0;
  const { failed, text } = await demo((store) => ({
    async batchPut(cells) {
      batches += 1;
      if (batches === 1) return cells.map(() => UNAVAILABLE);
      if (cells.some(isModel)) return (pending.push(...cells), cells.map(() => BUFFERED));
      const results = await store.batchPut(cells);
      return batches % 5 === 0 ? cells.map(() => UNAVAILABLE) : results;
    },
    async versions(key, options) {
      const page = await store.versions(key, options);
      // Written after the first read.
      if (pending.length > 0) await store.batchPut(pending.splice(0));
      const column = `${key.row_key}/${key.column_name}`;
      const isFirst = !behind.has(column);
      behind.add(column);
      return isFirst ? { cells: [], next: null, served_by: 'reader', stale: true } : page;
    },
  }));
  expect(failed, text).toBe(0);
});

test.concurrent.each<[string, Change, RegExp, number?]>([
  [
    'the two trips stay unconfirmed',
    answered(isModel, UNAVAILABLE),
    /\/(BASE|NOTES)\/\d: not written: unavailable: The write was not confirmed: test$/,
    4,
  ],
  [
    'the store has no room for notes',
    answered(isNote, UNAVAILABLE),
    /\/NOTES\/\d: not written: unavailable: The write was not confirmed: test$/,
  ],
  [
    'notes have another body',
    answered(isNote, { outcome: 'conflict', shard: 0 }),
    /\/NOTES\/\d: not written: conflict: Another body is at .*; nothing was changed$/,
  ],
])('an unwritten cell is reported as unwritten, once, and not as lost, if %s', async (_where, change, wrong, count) => {
  const { failed, wrongs } = await demo(change, IMPATIENT);
  expect(failed).toBeGreaterThan(0);
  expect(wrongs).toEqual(wrongs.map(() => expect.stringMatching(wrong)));
  if (count !== undefined) expect(failed).toBe(count);
});

test.concurrent.each<[string, Change, RegExp, Settings?]>([
  [
    'losing a cell that it said was stored',
    answered(isNote, { outcome: 'stored', shard: 0, added_id: 1 }),
    /wrong: .*\/NOTES\/\d: not found \(asked the writer\)/,
  ],
  [
    'never appending what it buffered',
    answered(isNote, BUFFERED),
    /\/NOTES\/\d: not found \(asked the writer; its put was answered buffered\)/,
  ],
  [
    'never appending the two trips',
    answered(isModel, BUFFERED),
    /\/BASE\/1: versions: wanted ref keys 2, 1, got none/,
    { billingPatienceMs: 0 },
  ],
  [
    'changing a body',
    (store) => ({
      batchPut: (cells) =>
        store.batchPut(cells.map((cell) => (isNote(cell) ? { ...cell, body: { rating: 1 } } : cell))),
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
    { billingPatienceMs: 0, ...PARKING },
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

test('an interrupt ends it while it writes', async () => {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const lines: string[] = [];
  const honest = tripsStore();
  const batchPut: DemoClient['batchPut'] = (cells) => {
    if (lines.some((line) => line.startsWith('Now 30 trips'))) interrupt.abort();
    return honest.batchPut(cells);
  };
  let queries = 0;
  const query: DemoClient['query'] = (asked) => {
    queries += 1;
    return honest.query(asked);
  };
  const store = asClient({ ...honest, batchPut, query });
  const run = runDemo({ ...TRIPS, store, readers: false, signal, print: (line) => lines.push(line) });
  await expect(run).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  expect(queries).toBe(0);
});
