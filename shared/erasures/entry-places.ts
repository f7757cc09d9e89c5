import { randomUUID } from 'node:crypto';
import { deleteState, readState, updateState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { ErasureTarget } from '../address.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import { idOf } from './erasure-record.ts';

/** A table with entries of a row, from bodies that are about to be erased. */
export interface EntryPlace {
  /** Its name, in the database of the shard. */
  readonly table: string;
  readonly shard: number;
}

/** A noted place. */
interface NotedPlace extends EntryPlace {
  readonly note: string;
}

export type EntryPlaces = ReturnType<typeof entryPlaces>;

const PLACES = 'places';
/** An item takes 400 KB; a page of bodies may have a place for each cell in each index. */
const MOST_NOTES = 500;

/**
 * Notes the places of entries of the bodies to erase next: `erasing#trips#ID` of the state table. Notes last from
 * before the bodies go until entries that their readers still wrote are removed. A run that continues an interrupted
 * erasure needs them, since nothing else names these places. They have no value of a body.
 *
 * Several runs may carry out one erasure: each has its own notes.
 *
 * @throws SchemalessError `unavailable` from each operation, if the state table does not answer
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
    /** Notes new places. Call it when no entry is left at the places noted here before. */
    async note(places: readonly EntryPlace[]): Promise<void> {
      if (own.size + places.length > MOST_NOTES) await forget();
      const notes = places.map(({ table, shard }) => `${table} ${shard} ${whose}`).filter((note) => !own.has(note));
      if (notes.length === 0) return;
      const values = { ':notes': { SS: notes } };
      await overState(() => updateState(stateTable, { key, update: `ADD #${PLACES} :notes`, values }));
      for (const note of notes) own.add(note);
    },
    /** Deletes this run's notes. Call it when no entry is left at their places. */
    forget,
    /** Reads the notes of all runs. Call it when no body is left, so that no run has one to erase. */
    async left(): Promise<readonly NotedPlace[]> {
      const item = await overState(() => readState(stateTable, key));
      return (item?.[PLACES]?.SS ?? []).map((note) => {
        const [table = '', shard] = note.split(' ');
        return { table, shard: Number(shard), note };
      });
    },
    /** Deletes a note of any run. Call it when no entry is left at its place. */
    done: ({ note }: NotedPlace): Promise<void> => remove([note]),
  };
}
