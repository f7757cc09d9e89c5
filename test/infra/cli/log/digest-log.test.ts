import { expect, it } from 'vitest';
import { digestLog } from '../../../../infra/cli/log/digest-log.ts';
import type { DigestRange, Role } from '../../../../shared/cell.ts';

/** A log of so many cells, of which an answer reads two at most. */
function logOf(cells: number, served_by: Role = 'writer') {
  const asked: DigestRange[] = [];
  const digest = async (range: DigestRange) => {
    asked.push(range);
    const at = Math.min((range.after ?? 0) + 2, cells, range.at ?? cells);
    const more = at < (range.at ?? cells);
    return { shard: range.shard, at, digest: `of ${at}`, more, served_by, stale: served_by === 'reader' };
  };
  return { client: { digest }, asked };
}

it('a digest of a long log is gone on with until it is there', async () => {
  const { client, asked } = logOf(9);
  expect(await digestLog(client, { shard: 1, at: 5 })).toMatchObject({ at: 5, digest: 'of 5' });
  expect(asked.map(({ after, digest }) => [after, digest])).toEqual([
    [undefined, undefined],
    [2, 'of 2'],
    [4, 'of 4'],
  ]);
});

it('a log that ends before is told as far as it goes, by a writer', async () => {
  expect(await digestLog(logOf(3).client, { shard: 1, at: 5 })).toMatchObject({ at: 3, digest: 'of 3' });
});

it('a reader that is behind, and a writer that answers in the place of one, give none', async () => {
  const behind = digestLog(logOf(3, 'reader').client, { shard: 1, at: 5, read: 'reader' });
  await expect(behind).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('behind 3') });
  const other = digestLog(logOf(9).client, { shard: 1, at: 5, read: 'reader' });
  await expect(other).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('no reader') });
});
