import { describe, expect, it } from 'vitest';
import { fakeDeployment } from './support/fake-deployment.ts';
import { fakeRetention, HOLD, KEPT, PURGE } from './support/fake-retention.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';

/** What a request was answered, and what it asked. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  signedBy?: string,
): Promise<{ readonly answer: GatewayAnswer; readonly asked: unknown[][] }> {
  const asked: unknown[][] = [];
  const deployment = {
    ...fakeDeployment(),
    retention: async (_name: string, caller: string) => fakeRetention(asked, caller),
  };
  const answer = await gateway(deployment)({
    method,
    path: `/v1/trips/${path}`,
    body: body === undefined ? undefined : JSON.stringify(body),
    ...(signedBy !== undefined && { signedBy }),
  });
  return { answer, asked };
}

describe('the routes of retention', () => {
  it('show the rules and what was erased by them', async () => {
    expect((await ask('GET', 'retention')).answer).toMatchObject({ status: 200, json: { ...KEPT } });
  });

  it('put a hold, and write down who asks', async () => {
    const { answer, asked } = await ask('PUT', 'holds', { hold: 'case-18', row_key: ROW, reason: 'evidence' }, 'desk');
    expect(answer).toMatchObject({
      status: 200,
      json: { hold: 'case-18', row_key: ROW, requested_by: 'arn:aws:iam::123456789012:user/desk' },
    });
    expect(asked).toEqual([['putHold', { hold: 'case-18', row_key: ROW, subject: null, reason: 'evidence' }]]);
  });

  it('list holds, and release them', async () => {
    const listed = await ask('GET', `holds?row_key=${ROW}&limit=5`);
    expect(listed.answer.json).toMatchObject({ holds: [HOLD], next: null });
    expect(listed.asked).toEqual([['holds', { row_key: ROW, subject: undefined, limit: 5, after: undefined }]]);
    const released = await ask('DELETE', `holds?hold=${HOLD.hold}&row_key=${ROW}`);
    expect(released.answer).toMatchObject({ status: 200, json: { ...HOLD } });
    expect((await ask('DELETE', `holds?hold=nope&row_key=${ROW}`)).answer).toMatchObject({
      status: 404,
      json: { code: 'unknown_hold' },
    });
  });

  it('have a purge begun', async () => {
    expect((await ask('POST', 'purge')).answer).toMatchObject({ status: 202, json: { ...PURGE } });
  });

  it.each([
    ['no reason', { hold: 'a', row_key: ROW }, 'missing_field', 'reason'],
    ['a blank reason', { hold: 'a', row_key: ROW, reason: ' ' }, 'invalid_field', 'reason'],
    ['another member', { hold: 'a', row_key: ROW, reason: 'x', until: 'x' }, 'unknown_field', 'until'],
  ])('refuse a hold with %s', async (_what, body, code, field) => {
    const { answer, asked } = await ask('PUT', 'holds', body);
    expect(answer).toMatchObject({ status: 400, json: { code, field } });
    expect(asked).toEqual([]);
  });
});
