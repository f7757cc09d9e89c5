import { parseCount } from '../../../shared/address.ts';
import { MOST_SECONDS } from '../../../shared/api/move-schemas.ts';
import type { MoveOperations, MoveStatus } from '../../../shared/contract/move-operations.ts';
import { invalidField, missingField } from '../../../shared/errors.ts';
import type { MoveManagement } from '../../../shared/moves/move-management.ts';
import { readMembers, refuseMembers } from '../members.ts';
import { pathShard } from '../request.ts';
import type { HttpOperation } from './operation.ts';

type Moves = HttpOperation<MoveManagement>;

const GROUP = 'the name of a group, such as group-2';
const GROUP_NAME = /^[\w.-]{1,64}$/u;

/** GET /moves: all that are under way. */
export const listMoves: Moves = async (request, management) => {
  request.query();
  const operations = await management.moves(request.path('datastore'));
  return { status: 200, body: { moves: await operations.moves() } };
};

/** POST /moves `{shard, to, switch, complete_after_seconds}`: begins one, or finds it. */
export const createMove: Moves = async (request, management) => {
  request.query();
  const members = readMembers(request.json(), ['shard', 'to', 'switch', 'complete_after_seconds']);
  const shard = parseCount(members.shard, 'shard', 0, Number.MAX_SAFE_INTEGER, 'the number of a shard');
  const to = parseGroup(members.to);
  const options = { switch: parseSwitch(members.switch), complete_after_seconds: parseSeconds(members) };
  const operations = await management.moves(request.path('datastore'));
  return { status: 202, body: await operations.createMove(shard, to, options) };
};

/** GET /moves/{shard}: the one under way, or the last one that ended. */
export const getMove: Moves = async (request, management) => {
  request.query();
  const shard = pathShard(request);
  const operations = await management.moves(request.path('datastore'));
  return { status: 200, body: await operations.move(shard) };
};

/** POST /moves/{shard}/switch, without a body or with `{}`, as all that follow. */
export const switchMove = stepOf((operations, shard) => operations.switchMove(shard));

/** POST /moves/{shard}/reverse. */
export const reverseMove = stepOf((operations, shard) => operations.reverseMove(shard));

/** POST /moves/{shard}/complete. */
export const completeMove = stepOf((operations, shard) => operations.completeMove(shard));

/** POST /moves/{shard}/cancel. */
export const cancelMove = stepOf((operations, shard) => operations.cancelMove(shard));

/** POST /moves/{shard}/verify. */
export const verifyMove = stepOf((operations, shard) => operations.verifyMove(shard));

function stepOf(take: (operations: MoveOperations, shard: number) => Promise<MoveStatus>): Moves {
  return async (request, management) => {
    request.query();
    refuseMembers(request);
    const shard = pathShard(request);
    const operations = await management.moves(request.path('datastore'));
    return { status: 202, body: await take(operations, shard) };
  };
}

function parseGroup(to: unknown): string {
  if (to === undefined) throw missingField('to', GROUP);
  if (typeof to !== 'string' || !GROUP_NAME.test(to)) throw invalidField('to', GROUP, to);
  return to;
}

function parseSwitch(value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw invalidField('switch', 'true or false', value);
  return value;
}

function parseSeconds(members: { readonly complete_after_seconds: unknown }): number | undefined {
  const { complete_after_seconds: seconds } = members;
  return seconds === undefined ? undefined : parseCount(seconds, 'complete_after_seconds', 0, MOST_SECONDS);
}
