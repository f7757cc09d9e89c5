import { readState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { changeItem, pack, unpack } from '../../dynamo/change-item.ts';
import { malformedKey, type TriggerName } from './trigger-items.ts';
import type { MalformedMessage } from '../../contract/trigger-operations.ts';

/**
 * Nobody but the tailer should send to a trigger's queue: what others send is kept to be looked at, the newest of it.
 */
const KEPT = 100;
const BODY_CHARACTERS = 1000;
const ERROR_CHARACTERS = 500;

/** The messages of a trigger's queue that could not be read: the newest 100, by when they were parked. */
export function malformedMessages(table: DynamoTable, name: TriggerName) {
  return {
    async list(): Promise<readonly MalformedMessage[]> {
      return unpack<readonly MalformedMessage[]>((await readState(table, malformedKey(name)))?.['messages'], []);
    },

    async add({ message_id, body, error }: Omit<MalformedMessage, 'parked_at'>): Promise<void> {
      const message = {
        message_id,
        body: shorten(body, BODY_CHARACTERS),
        error: shorten(error, ERROR_CHARACTERS),
        parked_at: new Date().toISOString(),
      };
      await changeItem(table, malformedKey(name), (item) => {
        const before = unpack<readonly MalformedMessage[]>(item?.['messages'], []);
        if (before.some((known) => known.message_id === message_id)) return { result: undefined };
        return { values: { messages: { B: pack([...before, message].slice(-KEPT)) } }, result: undefined };
      });
    },

    /** Forgets them. Returns how many there were. */
    clear(): Promise<number> {
      return changeItem(table, malformedKey(name), (item) => {
        const { length } = unpack<readonly MalformedMessage[]>(item?.['messages'], []);
        return length === 0 ? { result: 0 } : { values: { messages: undefined }, result: length };
      });
    },
  };
}

/** Cut to so many characters, and without halves of one. */
export function shorten(text: string, characters: number): string {
  return text.slice(0, characters).toWellFormed();
}
