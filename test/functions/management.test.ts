import { describe, expect, it, vi } from 'vitest';
import { logger } from '../../functions/environment/log.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

// `test/shared/api/verdicts.test.ts` and `test/shared/client/operations.test.ts` test the operators' routes.

async function ask(path: string, body: object, signedBy?: string) {
  const asked: unknown[][] = [];
  const answer = await gateway(fakeDeployment({}, [], asked))({
    method: 'POST',
    path: `/v1/trips/${path}`,
    body: JSON.stringify(body),
    ...(signedBy !== undefined && { signedBy }),
  });
  return { answer, asked };
}

const reason = 'request 4711';

it.each([
  ['erasures', { row_key: '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', reason }],
  ['subjects/forget', { subject: 'Ann Smith', reason }],
])('%s records the caller', async (path, body) => {
  const { answer } = await ask(path, body, 'eve');
  expect(answer).toMatchObject({ status: 200, json: { requested_by: 'arn:aws:iam::123456789012:user/eve', reason } });
});

describe('subjects', () => {
  it('are forgotten, and logs name the caller but not the subject', async () => {
    const lines: unknown[][] = [];
    const info = vi.spyOn(logger, 'info').mockImplementation((...line) => void lines.push(line));
    const { asked } = await ask('subjects/forget', { subject: 'Ann Smith', reason }, 'eve');
    info.mockRestore();
    expect(asked).toEqual([['forgetSubject', { subject: 'Ann Smith', reason }]]);
    expect(JSON.stringify(lines)).toContain('user/eve');
    expect(JSON.stringify(lines)).not.toContain('Ann');
  });

  it.each<[string, object, string]>([
    ['missing_field', { reason: 'why' }, 'subject'],
    ['invalid_field', { subject: 7, reason: 'why' }, 'subject'],
    ['invalid_field', { subject: '', reason: 'why' }, 'subject'],
    ['invalid_field', { subject: 'x'.repeat(256), reason: 'why' }, 'subject'],
    ['invalid_field', { subject_name: 'Ann', reason: 'why' }, 'subject_name'],
    ['invalid_field', { subject: 'Ann', subject_name: 'ab'.repeat(16), reason: 'why' }, 'subject_name'],
    ['missing_field', { subject: 'Ann' }, 'reason'],
    ['invalid_field', { subject: 'Ann', reason: ' ' }, 'reason'],
    ['unknown_field', { subject: 'Ann', reason: 'why', row_key: 'a' }, 'row_key'],
  ])('are refused with %s, and the answer does not say what came: %j', async (code, body, field) => {
    const { answer, asked } = await ask('subjects/forget', body);
    expect(answer).toMatchObject({ status: 400, json: { code, field } });
    expect(answer.text).not.toMatch(/Ann|xxx/u);
    expect(asked).toEqual([]);
  });
});
