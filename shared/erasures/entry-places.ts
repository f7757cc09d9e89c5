import { deleteState, readState, updateState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { ErasureTarget } from '../address.ts';
import { overState } from '../triggers/manage/state-away.ts';
import { idOf } from './erasure-record.ts';

/** A table that has entries of a row which come of bodies that are about to be erased. */
export interface EntryPlace {
  /** Its name, in the database of the shard. */
  readonly table: string;
  readonly shard: number;
}

/**
 * Where the entries of the bodies are that go next: `erasing#trips#ID` of the state table, from before they go until what
 * was written meanwhile by whoever had read them is taken away, too. Once they are gone nothing else says it, so that
 * whoever goes on with an erasure that was cut off in between looks there. It has no value of a body.
 */
export interface EntryPlaces {
  read(): Promise<readonly EntryPlace[]>;
  /** In place of those before. */
  write(places: readonly EntryPlace[]): Promise<void>;
}

/** @throws SchemalessError `unavailable` where the state table does not answer; from each of its operations */
export function entryPlaces(stateTable: DynamoTable, datastore: string, target: ErasureTarget): EntryPlaces {
  const key = `erasing#${datastore}#${idOf(datastore, target)}`;
  /** What the item has, as far as it is known. */
  let written = '';
  return {
    async read() {
      const item = await overState(() => readState(stateTable, key));
      written = item?.['places']?.S ?? '';
      return written === '' ? [] : (JSON.parse(written) as readonly EntryPlace[]);
    },
    async write(places) {
      const wanted = places.length === 0 ? '' : JSON.stringify(places);
      if (wanted === written) return;
      await overState(async () =>
        wanted === ''
          ? deleteState(stateTable, key)
          : updateState(stateTable, { key, update: 'SET #places = :places', values: { ':places': { S: wanted } } }),
      );
      written = wanted;
    },
  };
}
