import { describe, expect, it, vi } from 'vitest';
import { logger } from '../../functions/environment/log.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { FORGOTTEN, fakeSubjects, RECEIPT_KEY } from './support/fake-subjects.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

/** What a request was answered, and what it asked of the subjects. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly answer: GatewayAnswer; readonly asked: unknown[][] }> {
  const asked: unknown[][] = [];
  const deployment = {
    ...fakeDeployment(),
    subjects: async (_name: string, caller: string) => fakeSubjects(asked, caller),
  };
  const answer = await gateway(deployment)({
    method,
    path: `/v1/trips/${path}`,
    body: body === undefined ? undefined : JSON.stringify(body),
    signedBy: 'eve',
  });
  return { answer, asked };
}

describe('the routes of subjects', () => {
  it('forget one, by who asks, and no log says whom', async () => {
    const lines: unknown[][] = [];
    const info = vi.spyOn(logger, 'info').mockImplementation((...line) => void lines.push(line));
    const { answer, asked } = await ask('POST', 'subjects/forget', { subject: 'Ann Smith', reason: 'request 4711' });
    expect(answer).toMatchObject({
      status: 200,
      json: { ...FORGOTTEN, requested_by: 'arn:aws:iam::123456789012:user/eve' },
    });
    expect(asked).toEqual([['forget', { subject: 'Ann Smith', reason: 'request 4711' }]]);
    expect(JSON.stringify(lines)).toContain('user/eve');
    expect(JSON.stringify(lines)).not.toContain('Ann');
    info.mockRestore();
  });

  it('list those that were, and show the key, beside erasures', async () => {
    const listed = await ask('GET', 'erasures/subjects?limit=7&after=abc');
    expect(listed.answer).toMatchObject({ status: 200, json: { subjects: [FORGOTTEN], next: null } });
    expect(listed.asked).toEqual([['forgotten', { limit: 7, after: 'abc' }]]);
    expect((await ask('GET', 'erasures/key')).answer).toMatchObject({ status: 200, json: { ...RECEIPT_KEY } });
  });

  it.each([
    ['no subject', { reason: 'why' }, 'missing_field', 'subject'],
    ['one that is no text', { subject: 7, reason: 'why' }, 'invalid_field', 'subject'],
    ['one that is too long', { subject: 'x'.repeat(256), reason: 'why' }, 'invalid_field', 'subject'],
    ['a name that is none', { subject_name: 'Ann', reason: 'why' }, 'invalid_field', 'subject_name'],
    ['no reason', { subject: 'Ann' }, 'missing_field', 'reason'],
    ['an empty reason', { subject: 'Ann', reason: ' ' }, 'invalid_field', 'reason'],
    ['more', { subject: 'Ann', reason: 'why', row_key: 'a' }, 'unknown_field', 'row_key'],
  ])('refuse %s, and do not say what came', async (_what, body, code, field) => {
    const { answer, asked } = await ask('POST', 'subjects/forget', body);
    expect(answer).toMatchObject({ status: 400, json: { code, field } });
    expect(answer.text).not.toMatch(/Ann|xxx/u);
    expect(asked).toEqual([]);
  });

  it('refuse `sealed` that is neither true nor false', async () => {
    const { answer } = await ask('GET', 'cells/6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0/BASE/1?sealed=yes');
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_field', field: 'sealed' } });
  });
});
