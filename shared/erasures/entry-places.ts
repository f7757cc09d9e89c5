import { randomUUID } from 'node:crypto';
import { deleteState, readState, updateState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { ErasureTarget } from '../address.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import { idOf } from './erasure-record.ts';

/** A table that has entries of a row which come of bodies that are about to be erased. */
export interface EntryPlace {
  /** Its name, in the database of the shard. */
  readonly table: string;
  readonly shard: number;
}

/** A place that somebody has written down. */
interface NotedPlace extends EntryPlace {
  readonly note: string;
}

export type EntryPlaces = ReturnType<typeof entryPlaces>;

const PLACES = 'places';
/** An item takes 400 KB; a page of bodies may be of as many places as it has cells, in each index. */
const MOST_NOTES = 500;

/**
 * Where the entries of the bodies are that go next: `erasing#trips#ID` of the state table, from before they go until what
 * was written meanwhile by whoever had read them is taken away, too. Once they are gone nothing else says it, so that
 * whoever goes on with an erasure that was cut off in between looks there. It has no value of a body.
 *
 * Several may carry out one erasure: each has notes of its own.
 *
 * @throws SchemalessError `unavailable` where the state table does not answer; from each of its operations
 */
export function entryPlaces(stateTable: DynamoTable, datastore: string, target: ErasureTarget) {
  const key = `erasing#${datastore}#${idOf(datastore, target)}`;
  const own = new Set<string>();
  const whose = randomUUID();

  async function remove(notes: readonly string[]): Promise<void> {
    if (notes.length === 0) return;
    const value = { SS: [...notes] };
    await overState(async () => {
      if (await deleteState(stateTable, key, { name: PLACES, value })) return;
      await updateState(stateTable, {
        key,
        update: `DELETE #${PLACES} :notes`,
        condition: `attribute_exists(#${PLACES})`,
        values: { ':notes': value },
      });
    });
  }

  async function forget(): Promise<void> {
    await remove([...own]);
    own.clear();
  }

  return {
    /** Writes down those that are not yet. Nothing is left at what was written down here before. */
    async note(places: readonly EntryPlace[]): Promise<void> {
      if (own.size + places.length > MOST_NOTES) await forget();
      const notes = places.map(({ table, shard }) => `${table} ${shard} ${whose}`).filter((note) => !own.has(note));
      if (notes.length === 0) return;
      const values = { ':notes': { SS: notes } };
      await overState(() => updateState(stateTable, { key, update: `ADD #${PLACES} :notes`, values }));
      for (const note of notes) own.add(note);
    },
    /** Nothing is left at what was written down here. */
    forget,
    /** What is written down. Looked at once no body is left: whoever wrote it has none to erase any more. */
    async left(): Promise<readonly NotedPlace[]> {
      const item = await overState(() => readState(stateTable, key));
      return (item?.[PLACES]?.SS ?? []).map((note) => {
        const [table = '', shard] = note.split(' ');
        return { table, shard: Number(shard), note };
      });
    },
    /** Nothing is left at a place, whoever has written it down. */
    done: ({ note }: NotedPlace): Promise<void> => remove([note]),
  };
}
