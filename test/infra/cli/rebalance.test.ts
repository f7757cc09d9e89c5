import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SizeOperations } from '../../../shared/contract/shard-plan.ts';
import { fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { serveGateway } from '../../functions/support/gateway.ts';
import { steppingMoves, type SteppingMoves } from '../../shared/moves/stepping-moves.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand, startCommand, type Ran } from './run-command.ts';

const folder = folderOfTests();
const HERE = { folder: folder.path };
const GROUPS = ['group-1', 'group-2'];
let moves: SteppingMoves;
let served: Awaited<ReturnType<typeof serveGateway>>;

/** All shards on one of two groups, as a new one finds them. */
beforeEach(async () => {
  moves = steppingMoves(new Map(Array.from({ length: SHARDS }, (_, shard) => [shard, 'group-1'])));
  const sizes: SizeOperations = {
    shardSizes: async () => ({
      groups: GROUPS,
      shards: [...moves.homes].map(([shard, group]) => ({ shard, group, bytes: 1_000_000, cells: 17 })),
    }),
  };
  served = await serveGateway(fakeDeployment({ ...moves, ...sizes }));
});
afterEach(() => served.close());

const run = (...parameters: string[]): Promise<Ran> =>
  runCommand([...parameters, '--count-writes', '0', '-d', 'trips', '--url', served.url], HERE);

describe('shards plan', () => {
  it('says which shards should be elsewhere, and changes nothing', async () => {
    const planned = await run('shards', 'plan');
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(planned)).toEqual(
      [0, 1].map((shard) => ({ shard, from: 'group-1', to: 'group-2', bytes: 1_000_000 })),
    );
    const retiring = await run('shards', 'plan', '--retire', 'group-1', '--format', 'table');
    expect(retiring.stdout).toMatch(/^SHARD {2}FROM {5}TO {7}SIZE\n/u);
    expect(retiring.stderr).toContain('4 shards to move, 4.0 MB');
    expect(moves.asked).toEqual([]);
  });

  it('refuses a group that there is not', async () => {
    const { code, stderr } = await run('shards', 'plan', '--retire', 'group-9');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--retire: wanted one of group-1, group-2')]);
  });
});

describe('rebalance', () => {
  it('does nothing where it is only to say what it would do, or nobody can be asked', async () => {
    const dry = await run('rebalance', '--dry-run');
    expect([dry.code, linesOf(dry).length]).toEqual([0, 2]);
    const alone = await run('rebalance');
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--yes: wanted it')]);
    expect(moves.asked).toEqual([]);
  });

  it('moves shards until each group holds its part, and has nothing to do then', async () => {
    const moved = await run('rebalance', '--yes', '--complete-after', '60');
    expect(moved.code).toBe(0);
    expect(linesOf(moved)).toEqual([
      expect.objectContaining({ moves: 2, moved: 2, percent: 100, complete: true, not_moved: [] }),
    ]);
    expect([...moves.homes.values()].toSorted()).toEqual(['group-1', 'group-1', 'group-2', 'group-2']);
    expect([...moves.all.values()].map((one) => one.complete_after_seconds)).toEqual([60, 60]);
    const again = await run('rebalance');
    expect([again.code, linesOf(again)[0]?.['moves']]).toEqual([0, 0]);
    expect(again.stderr).toContain('nothing to move');
  });

  it('ends with Ctrl-C, and goes on where it was', async () => {
    const child = startCommand(
      ['drain-group', 'group-1', '--yes', '--count-writes', '0', '-d', 'trips', '--url', served.url],
      HERE,
    );
    child.stdout?.resume();
    // The first line of its progress: some are begun, none has moved.
    let isTold = false;
    child.stderr?.on('data', (text: Buffer) => {
      if (isTold || !text.toString().includes('"moved":0')) return;
      isTold = child.kill('SIGINT');
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect(moves.asked.length).toBeLessThan(SHARDS);
    expect((await run('drain-group', 'group-1', '--yes')).code).toBe(0);
    // What was under way when the first ended was not planned again, and ends by itself.
    for (let look = 0; look < 2 * SHARDS; look += 1) await moves.moves();
    expect([...moves.homes.values()]).toEqual(Array.from({ length: SHARDS }, () => 'group-2'));
    expect(new Set(moves.asked).size).toBe(SHARDS);
  });
});
