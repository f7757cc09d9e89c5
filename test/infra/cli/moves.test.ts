import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../shared/api/moves.ts';
import { MOVE } from '../../functions/support/fake-moves.ts';
import { fakeApi } from './fake-api.ts';
import { linesOf, startCommand } from './run-command.ts';

/** The states of a move, one for each poll; the last one stays. */
let seen: readonly Partial<MoveStatus>[] = [];
beforeEach(() => {
  seen = [];
});

const { requests, command, run, folder } = fakeApi(({ method, path }) => {
  const status = { ...MOVE, ...(seen.length > 1 ? seen[0] : seen.at(-1)) };
  seen = seen.length > 1 ? seen.slice(1) : seen;
  if (method !== 'GET') return [202, status];
  return [200, path === '/v1/trips/moves' ? { moves: [status] } : status];
});

describe('moves', () => {
  it('are started with the options given', async () => {
    const plain = await run('move', 'create', '2', '--to', 'group-2');
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(plain)).toEqual([{ ...MOVE, percent: 25 }]);
    await run('move', 'create', '2', '--to', 'group-2', '--switch', '--complete-after', '86400');
    expect(requests).toEqual([
      ['POST', '/v1/trips/moves', { shard: 2, to: 'group-2' }],
      ['POST', '/v1/trips/moves', { shard: 2, to: 'group-2', switch: true, complete_after_seconds: 86_400 }],
    ]);
  });

  it('are listed, with how far they are, how fast, and how long that takes', async () => {
    expect(linesOf(await run('move', 'list'))).toEqual([{ ...MOVE, percent: 25 }]);
    const table = await run('move', 'list', '--format', 'table');
    expect(table.stdout).toMatch(/^SHARD +FROM +TO +STEP +WANTED +COPIED +BEHIND +RATE +LEFT +LAST ERROR\n/u);
    expect(table.stdout).toMatch(/^2 +group-1 +group-2 +copying +- +25 % +750 cells +0\.1 MB\/s +9 s +-$/mu);
  });

  it('are shown: all of an empty shard is there, and all but a little of another is not all', async () => {
    seen = [{ head: 0, copied: 0, eta_seconds: null }];
    expect(linesOf(await run('move', 'status', '2'))).toMatchObject([{ percent: 100 }]);
    seen = [{ head: 1_000_000, copied: 999_999 }];
    expect(linesOf(await run('move', 'status', '2'))).toMatchObject([{ percent: 99.9 }]);
    expect(requests).toEqual([
      ['GET', '/v1/trips/moves/2', undefined],
      ['GET', '/v1/trips/moves/2', undefined],
    ]);
  });

  it.each(['switch', 'reverse', 'complete', 'cancel', 'verify'])('are taken on: %s', async (name) => {
    expect(await run('move', name, '2')).toMatchObject({ code: 0, stderr: '' });
    expect(requests).toEqual([['POST', `/v1/trips/moves/2/${name}`, undefined]]);
  });
});

describe('a move that is watched', () => {
  const following = { step: 'following', copied: 1000, compared: 900 } as const;

  it('shows what changes, until all is compared and nothing is wanted any more', async () => {
    const stumbling = { ...following, last_error: 'group-2 does not answer' };
    seen = [{}, {}, stumbling, { ...following, compared: 1000, wanted: null, switches: 1 }];
    const ran = await run('move', 'status', '2', '--watch');
    expect(ran).toMatchObject({ code: 0, stderr: 'failed, will be retried: group-2 does not answer\n' });
    expect(linesOf(ran).map(({ step, compared, switches }) => [step, compared, switches])).toEqual([
      ['copying', 200, 0],
      ['following', 900, 0],
      ['following', 1000, 1],
    ]);
    expect(requests).toHaveLength(4);
  });

  it.each(['completed', 'cancelled'] as const)('is over at once where it is %s', async (step) => {
    seen = [{ step }];
    expect(linesOf(await run('move', 'status', '2', '--watch'))).toMatchObject([{ step }]);
  });

  it('ends with Ctrl-C, so that what stands behind it is not done', async () => {
    const watching = startCommand(command('move', 'status', '2', '--watch'), { folder });
    await once(watching.stdout ?? process.stdin, 'data');
    watching.kill('SIGINT');
    expect(await once(watching, 'exit')).toEqual([130, null]);
  });
});
