import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { BatchGetItemCommand, type AttributeValue, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { DatastoreKeys } from '../../../shared/sealed/datastore-keys.ts';
import { KNOWN_MS, subjectKeyring } from '../../../shared/sealed/subject-keyring.ts';

const SUBJECTS = Array.from({ length: 20 }, (_, number) => String(number).padStart(32, '0'));
const STEP_MS = 25;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A table of keys that answers at once, and counts how often it was asked. */
function countedTable(): { readonly client: DynamoDBClient; readonly calls: () => number } {
  let calls = 0;
  const send = async (command: BatchGetItemCommand) => {
    calls += 1;
    const keys = command.input.RequestItems?.['keys']?.Keys ?? [];
    const items = keys.map((key): Record<string, AttributeValue> => ({ ...key, key: { B: randomBytes(32) } }));
    return { Responses: { keys: items } };
  };
  return { client: { send } as unknown as DynamoDBClient, calls: () => calls };
}

it('asks for the keys in use with one call for all, though each came into use at a moment of its own', async () => {
  const { client, calls } = countedTable();
  const keys = { datastore: 'trips', unwrap: (_what: string, key: Uint8Array) => Buffer.from(key) };
  const keyring = subjectKeyring(
    { table: { client, table: 'keys' }, root: undefined },
    keys as unknown as DatastoreKeys,
  );
  for (const [number] of SUBJECTS.entries()) {
    await keyring.known(new Set([SUBJECTS[number] ?? '']));
    vi.advanceTimersByTime(KNOWN_MS / 2 / SUBJECTS.length);
  }
  const useAll = async (milliseconds: number): Promise<number> => {
    const before = calls();
    for (let passed = 0; passed < milliseconds; passed += STEP_MS) {
      for (const name of SUBJECTS) expect((await keyring.known(new Set([name]))).size).toBe(1);
      vi.advanceTimersByTime(STEP_MS);
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
    return calls() - before;
  };
  await useAll(3 * KNOWN_MS);
  expect(await useAll(4 * KNOWN_MS)).toBeLessThanOrEqual(7);
});
