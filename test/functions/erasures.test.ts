import { describe, expect, it } from 'vitest';
import { fakeDeployment } from './support/fake-deployment.ts';
import { AWAY, ERASED, ERASING, fakeErasures } from './support/fake-erasures.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

const ROW = ERASED.row_key;

/** What a request was answered, and what it asked of the erasures. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  signedBy?: string,
): Promise<{ readonly answer: GatewayAnswer; readonly asked: unknown[][] }> {
  const asked: unknown[][] = [];
  const deployment = {
    ...fakeDeployment(),
    erasures: async (_name: string, caller: string) => fakeErasures(asked, caller),
  };
  const answer = await gateway(deployment)({
    method,
    path: `/v1/trips/erasures${path}`,
    body: body === undefined ? undefined : JSON.stringify(body),
    ...(signedBy !== undefined && { signedBy }),
  });
  return { answer, asked };
}

describe('the routes of erasures', () => {
  it.each([
    ['row', {}],
    ['column', { column_name: 'BASE' }],
    ['versions', { column_name: 'BASE', up_to: 3 }],
    ['cell', { column_name: 'BASE', ref_key: 0 }],
  ])('erase a %s', async (scope, target) => {
    const { answer, asked } = await ask('POST', '', { row_key: ROW, ...target, reason: 'request 4711' });
    expect(answer).toMatchObject({ status: 200, json: { scope, state: 'erased', row_key: ROW, ...target } });
    expect(asked).toEqual([['erase', { row_key: ROW, ...target, reason: 'request 4711' }]]);
  });

  it('say of one that is not done everywhere what it waits for', async () => {
    const { answer } = await ask('POST', '', { row_key: ROW, column_name: AWAY, reason: 'request 4711' });
    expect(answer).toMatchObject({ status: 202, json: { state: 'erasing', waits_for: ERASING.waits_for } });
  });

  it('write down who asks', async () => {
    const request = { row_key: ROW, reason: 'request 4711' };
    expect((await ask('POST', '', request)).answer.json).toMatchObject({ requested_by: 'anybody' });
    expect((await ask('POST', '', request, 'privacy')).answer.json).toMatchObject({
      requested_by: 'arn:aws:iam::123456789012:user/privacy',
    });
  });

  it('list them, page by page, and those alone that are not done', async () => {
    const first = await ask('GET', '?limit=1');
    expect(first.answer).toMatchObject({ status: 200, json: { erasures: [ERASED], next: ERASED.id } });
    const second = await ask('GET', `?limit=1&after=${ERASED.id}`);
    expect(second.answer.json).toMatchObject({ erasures: [ERASING], next: null });
    const open = await ask('GET', '?open=true');
    expect(open.answer.json).toMatchObject({ erasures: [ERASING], next: null });
    expect(open.asked).toEqual([['erasures', { open: true, limit: 100, after: undefined }]]);
  });

  it('show one', async () => {
    expect((await ask('GET', `/${ERASED.id}`)).answer).toMatchObject({ status: 200, json: { ...ERASED } });
  });
});
