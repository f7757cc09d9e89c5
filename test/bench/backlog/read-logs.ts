import { followOnce } from '../../../shared/follow/follow-once.ts';
import { TAIL_SETTINGS } from '../../../shared/triggers/send/settings.ts';
import { DATASTORE, type OpenStore } from '../../support/store-access.ts';

/** How far something was, in seconds since it began and cells. */
export type Course = readonly (readonly [seconds: number, cells: number])[];

/**
 * Reads all logs as a tailer does, from readers, the same statements in pages of the same size, and does nothing with
 * the cells.
 */
export async function readLogs({ context }: Pick<OpenStore, 'context'>): Promise<Course> {
  const start = performance.now();
  const course: [number, number][] = [[0, 0]];
  await followOnce({
    context,
    read: 'reader',
    pageCells: TAIL_SETTINGS.pageCells,
    follower: {
      name: 'bare',
      datastore: DATASTORE,
      start: 'start',
      handle: async (_group, cells) => new Map(cells.map(({ shard, added_id }) => [shard, added_id])),
    },
    progress: (done) => course.push([(performance.now() - start) / 1000, done]),
  });
  return course;
}
