import { readState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { changeItem, pack, unpack } from '../../dynamo/change-item.ts';
import { malformedKey, type TriggerName } from './trigger-items.ts';
import type { MalformedMessage } from '../../api/trigger-shapes.ts';

/** Only the tailer should send to a trigger's queue; the newest messages of others are kept. */
const KEPT = 100;
const BODY_CHARACTERS = 1000;
const ERROR_CHARACTERS = 500;

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

    /** Deletes them, and returns how many there were. */
    clear(): Promise<number> {
      return changeItem(table, malformedKey(name), (item) => {
        const { length } = unpack<readonly MalformedMessage[]>(item?.['messages'], []);
        return length === 0 ? { result: 0 } : { values: { messages: undefined }, result: length };
      });
    },
  };
}

/** Cuts a text, without halves of a character. */
export function shorten(text: string, characters: number): string {
  return text.slice(0, characters).toWellFormed();
}
