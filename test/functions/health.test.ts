import { describe, expect, it } from 'vitest';
import type { GroupHealth, NodeHealth } from '../../shared/api/service.ts';
import { VERSION } from '../../shared/version.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

const up: NodeHealth = { state: 'up', served_by: 'writer', milliseconds: 1, circuit: 'closed' };
const down: NodeHealth = {
  state: 'down',
  served_by: 'reader',
  milliseconds: 1000,
  circuit: 'open',
  error: 'unreachable',
};
const group = (number: number, writer: NodeHealth, reader: NodeHealth): GroupHealth => ({
  group: `group-${number}`,
  writer,
  reader,
});

describe('GET /v1/health', () => {
  it.each([
    ['ok', 200, [group(1, up, up), group(2, up, up)]],
    ['degraded', 200, [group(1, up, up), group(2, down, up)]],
    ['degraded', 200, [group(1, down, down), group(2, down, up)]],
    ['down', 503, [group(1, down, down), group(2, down, down)]],
  ] as const)('is %s with %i', async (status, code, groups) => {
    const answer = await gateway(fakeDeployment({}, groups))({ method: 'GET', path: '/v1/health' });
    expect(answer).toMatchObject({
      status: code,
      json: { status, groups, version: VERSION, instance: expect.any(String) },
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.headers['retry-after']).toBe(code === 503 ? '1' : undefined);
  });
});
