import { describe, expect, it } from 'vitest';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { fakeDeployment } from './fake-deployment.ts';
import { fakeErasures } from './fake-erasures.ts';
import { fakeMoves } from './fake-moves.ts';
import { fakeTriggers } from './fake-triggers.ts';
import { gateway, type GatewayRequest } from './gateway.ts';

/** A request; then of its refusal the code and the field, a part of `wanted` and a part of `got`. */
export type Refusal = readonly [request: GatewayRequest, problem: string, wanted: string, got: string];

/** By code, where it is not 400. */
const STATUS: Readonly<Record<string, number>> = {
  body_too_large: 413,
  request_too_large: 413,
  unknown_datastore: 404,
  unknown_erasure: 404,
  unknown_index: 404,
  unknown_move: 404,
  unknown_shard: 404,
  unknown_trigger: 404,
};

export type Body = GatewayRequest['body'];
export const get = (path: string): GatewayRequest => ({ method: 'GET', path });
export const put = (path: string, body?: Body): GatewayRequest => ({ method: 'PUT', path, body });
export const post = (path: string, body?: Body): GatewayRequest => ({ method: 'POST', path, body });
export const times = <Item>(count: number, make: (position: number) => Item): Item[] =>
  Array.from({ length: count }, (_, position) => make(position));

/** Holds that each request is refused as its row says, that nothing was written, and that no operation was asked. */
export function describeRefusals(tables: Readonly<Record<string, readonly Refusal[]>>): void {
  describe.each(Object.entries(tables))('%s', (_name, refusals) => {
    it.each(refusals.map(named))('are refused: %s', async (_request, request, problem, wanted, got) => {
      const [code = '', field] = problem.split(' ');
      const status = STATUS[code] ?? 400;
      const asked: unknown[][] = [];
      const deployment = fakeDeployment({ ...fakeTriggers(asked), ...fakeMoves(asked), ...fakeErasures(asked) });
      const answer = await gateway(deployment)(request);
      expect(answer).toMatchObject({
        status,
        headers: { 'content-type': 'application/problem+json' },
        json: { status, code, field, retry: 'never' },
      });
      expect(answer.json['wanted']).toContain(wanted);
      expect(answer.json['got']).toContain(got);
      expect(await cellsOf(deployment.trips)).toBe(0);
      expect(asked).toEqual([]);
    });
  });
}

function named(refusal: Refusal): readonly [name: string, ...Refusal] {
  const [{ method, path, body = '' }, problem] = refusal;
  return [`${problem} of ${method} ${path.slice(0, 100)} ${String(body).slice(0, 100)}`, ...refusal];
}

async function cellsOf(store: Datastore): Promise<number> {
  const heads = await store.heads();
  return heads.reduce((sum, head) => sum + ('head' in head ? head.head : 0), 0);
}
