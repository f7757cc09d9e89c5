import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { BatchGetItemCommand, type AttributeValue, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { DatastoreKeys } from '../../../shared/sealed/datastore-keys.ts';
import { KNOWN_MS, SubjectKeyring } from '../../../shared/sealed/subject-keyring.ts';

const SUBJECTS = Array.from({ length: 20 }, (_, number) => String(number).padStart(32, '0'));
const STEP_MS = 25;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A table of keys that answers at once, or after what is to come before, and counts how often it was asked. */
function countedTable(before: (names: readonly string[]) => void = () => undefined) {
  let calls = 0;
  const send = async (command: BatchGetItemCommand) => {
    calls += 1;
    const keys = command.input.RequestItems?.['keys']?.Keys ?? [];
    before(keys.map(({ pk }) => pk?.S ?? ''));
    const items = keys.map((key): Record<string, AttributeValue> => ({ ...key, key: { B: randomBytes(32) } }));
    return { Responses: { keys: items } };
  };
  const keys = { datastore: 'trips', unwrap: (_what: string, key: Uint8Array) => Buffer.from(key) };
  const table = { table: { client: { send } as unknown as DynamoDBClient, table: 'keys' }, root: undefined };
  return { keyring: new SubjectKeyring(table, keys as unknown as DatastoreKeys), calls: () => calls };
}

/** Waits until background work has ended. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await turn();
}

it('asks for the keys in use with one call for all, though each came into use at a moment of its own', async () => {
  const { keyring, calls } = countedTable();
  for (const [number] of SUBJECTS.entries()) {
    await keyring.known(new Set([SUBJECTS[number] ?? '']));
    vi.advanceTimersByTime(KNOWN_MS / 2 / SUBJECTS.length);
  }
  const useAll = async (milliseconds: number): Promise<number> => {
    const before = calls();
    for (let passed = 0; passed < milliseconds; passed += STEP_MS) {
      for (const name of SUBJECTS) expect((await keyring.known(new Set([name]))).size).toBe(1);
      vi.advanceTimersByTime(STEP_MS);
      await settled();
    }
    return calls() - before;
  };
  await useAll(3 * KNOWN_MS);
  expect(await useAll(4 * KNOWN_MS)).toBeLessThanOrEqual(9);
});

it.each([600, 1900, 2600, 3000, 3900])('has a key in memory that is used once in %i ms', async (gapMs) => {
  const { keyring } = countedTable();
  const names = new Set([SUBJECTS[0] ?? '']);
  await keyring.known(names);
  for (let used = 0; used < 20; used += 1) {
    vi.advanceTimersByTime(gapMs);
    expect(keyring.recalled(names)?.size).toBe(1);
    await settled();
  }
});

it('hands out nothing that has come too old while another key was waited for', async () => {
  const [one = '', other = ''] = SUBJECTS;
  const asked: (readonly string[])[] = [];
  const { keyring } = countedTable((names) => {
    asked.push(names.map((name) => name.replace('subject#trips#', '')));
    if (asked.length === 2) vi.advanceTimersByTime(3000);
  });
  await keyring.known(new Set([one]));
  vi.advanceTimersByTime(2400);
  expect((await keyring.known(new Set([one, other]))).size).toBe(2);
  expect(asked.slice(0, 2)).toEqual([[one], [other]]);
  expect(asked[2]).toContain(one);
});

it('says so where the table is slower than a key may be old', async () => {
  const { keyring } = countedTable(() => void vi.advanceTimersByTime(KNOWN_MS + 1));
  await expect(keyring.known(new Set(SUBJECTS.slice(0, 1)))).rejects.toThrow('too slow');
});
