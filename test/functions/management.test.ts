import { describe, expect, it, vi } from 'vitest';
import { logger } from '../../functions/environment/log.ts';
import { fakeDefinitions } from './support/fake-definitions.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { AWAY, ERASED, ERASING, fakeErasures, KEPT } from './support/fake-erasures.ts';
import { fakeMoves, MOVE } from './support/fake-moves.ts';
import { fakeSubjects, FORGOTTEN } from './support/fake-subjects.ts';
import { DEAD, fakeTriggers, MALFORMED, PARKED, SUMMARY, TRIGGER_SHARDS } from './support/fake-triggers.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

// The routes of triggers, moves, erasures, retention, subjects and definitions: what a request asks of them, and how it
// is answered. `bad-input.test.ts` has what they refuse.

interface Asked {
  readonly answer: GatewayAnswer;
  readonly asked: readonly unknown[][];
}

const PEER = 'arn:aws:iam::123456789012:user/eve';

async function ask(request: string, body?: unknown, signedBy?: string): Promise<Asked> {
  const asked: unknown[][] = [];
  const [method = '', path = ''] = request.split(' ');
  const deployment = {
    ...fakeDeployment({ ...fakeTriggers(asked), ...fakeMoves(asked) }),
    ...fakeDefinitions(asked),
    erasures: async (_name: string, caller: string) => fakeErasures(asked, caller),
    subjects: async (_name: string, caller: string) => fakeSubjects(asked, caller),
  };
  const answer = await gateway(deployment)({
    method,
    path: `/v1/${path}`,
    body: body === undefined ? undefined : JSON.stringify(body),
    ...(signedBy !== undefined && { signedBy }),
  });
  return { answer, asked };
}

const T = 'trips/triggers/bill_rider';
const ROW = ERASED.row_key;
const reason = 'request 4711';
const CELLS = [PARKED, { shard: 3, added_id: 1 }].map(({ shard, added_id }) => ({ shard, added_id }));
const REWOUND = { trigger: 'bill_rider', rewound_at: '2026-01-31T09:00:00.000000Z' };

type Row = readonly [request: string, body: unknown, status: number, json: object, asked?: readonly unknown[]];

const ROWS: readonly Row[] = [
  ['GET trips/triggers', undefined, 200, { triggers: [SUMMARY] }],
  [`GET ${T}`, undefined, 200, SUMMARY, ['getTrigger', { trigger: 'bill_rider' }]],
  [
    `GET ${T}?limit=2&after=0`,
    undefined,
    200,
    { ...SUMMARY, shards: TRIGGER_SHARDS, next: 1 },
    ['getTrigger', { trigger: 'bill_rider', limit: 2, after: 0 }],
  ],
  [
    `POST ${T}/pause`,
    { reason: 'no cards' },
    200,
    { state: 'paused' },
    ['pauseTrigger', { trigger: 'bill_rider', reason: 'no cards' }],
  ],
  [`POST ${T}/pause`, {}, 200, { state: 'paused', reason: null }, ['pauseTrigger', { trigger: 'bill_rider' }]],
  [`POST ${T}/pause`, undefined, 200, { state: 'paused', reason: null }, ['pauseTrigger', { trigger: 'bill_rider' }]],
  [`POST ${T}/resume`, undefined, 200, { state: 'running' }, ['resumeTrigger', { trigger: 'bill_rider' }]],
  [`POST ${T}/rewind`, { to: 'start' }, 200, REWOUND, ['rewindTrigger', { trigger: 'bill_rider', to: 'start' }]],
  [`POST ${T}/rewind`, { to: 'now' }, 200, REWOUND, ['rewindTrigger', { trigger: 'bill_rider', to: 'now' }]],
  [
    `POST ${T}/rewind`,
    { to: '2026-01-31T09:00:00.5+01:00' },
    200,
    REWOUND,
    ['rewindTrigger', { trigger: 'bill_rider', to: '2026-01-31T08:00:00.500000Z' }],
  ],
  [
    `POST ${T}/rewind`,
    { to: { 0: 14, 3: 0 } },
    200,
    REWOUND,
    ['rewindTrigger', { trigger: 'bill_rider', to: { 0: 14, 3: 0 } }],
  ],
  [
    `POST ${T}/rewind`,
    { to: 'now', dry_run: true },
    200,
    { dry_run: true, skips: [{ shard: 0, after: 16, to: 17, cells: 1 }] },
    ['rewindTrigger', { trigger: 'bill_rider', to: 'now', dry_run: true }],
  ],
  [
    `GET ${T}/parked?limit=7&after=0/3`,
    undefined,
    200,
    { cells: [PARKED], malformed: [MALFORMED], next: null },
    ['listParkedCells', { trigger: 'bill_rider', limit: 7, after: '0/3' }],
  ],
  [
    `POST ${T}/parked/retry`,
    { cells: CELLS },
    200,
    { wanted: 1, not_parked: CELLS.slice(1) },
    ['retryParkedCells', { trigger: 'bill_rider', cells: CELLS }],
  ],
  [
    `POST ${T}/parked/discard`,
    { cells: '*' },
    200,
    { discarded: 9, not_parked: [] },
    ['discardParkedCells', { trigger: 'bill_rider', cells: '*' }],
  ],
  [
    `GET ${T}/dead?limit=7`,
    undefined,
    200,
    { messages: [DEAD], count: 1 },
    ['listDeadMessages', { trigger: 'bill_rider', limit: 7 }],
  ],
  [
    `POST ${T}/dead/replay`,
    undefined,
    200,
    { replayed: 1, left: 0 },
    ['replayDeadMessages', { trigger: 'bill_rider' }],
  ],
  [
    `POST ${T}/dead/discard`,
    undefined,
    200,
    { discarded: 1, left: 2 },
    ['discardDeadMessages', { trigger: 'bill_rider' }],
  ],

  ['GET trips/moves', undefined, 200, { moves: [MOVE] }],
  ['GET trips/moves/2', undefined, 200, MOVE, ['getMove', { shard: 2 }]],
  [
    'POST trips/moves',
    { shard: 2, to: 'group-2' },
    202,
    { shard: 2, to: 'group-2', complete_after_seconds: null },
    ['createMove', { shard: 2, to: 'group-2' }],
  ],
  [
    'POST trips/moves',
    { shard: 0, to: 'group-3', switch: true, complete_after_seconds: 86_400 },
    202,
    { shard: 0, complete_after_seconds: 86_400 },
    ['createMove', { shard: 0, to: 'group-3', switch: true, complete_after_seconds: 86_400 }],
  ],
  ...['switch', 'reverse', 'complete', 'cancel', 'verify'].flatMap((step) =>
    [undefined, {}].map(
      (body) => [`POST trips/moves/2/${step}`, body, 202, { shard: 2 }, [`${step}Move`, { shard: 2 }]] as const,
    ),
  ),
  ['POST trips/moves/3/reverse', undefined, 409, { code: 'move_refused', retry: 'never' }],
  ['POST trips/moves', { shard: 2, to: 'group-1' }, 409, { code: 'move_refused', retry: 'never' }],

  ...[
    ['row', {}] as const,
    ['column', { column_name: 'BASE' }] as const,
    ['versions', { column_name: 'BASE', up_to: 3 }] as const,
    ['cell', { column_name: 'BASE', ref_key: 0 }] as const,
  ].map(
    ([scope, target]) =>
      [
        'POST trips/erasures',
        { row_key: ROW, ...target, reason },
        200,
        { scope, state: 'erased', row_key: ROW, requested_by: 'anybody', ...target },
        ['eraseCells', { row_key: ROW, ...target, reason }],
      ] as const,
  ),
  [
    'POST trips/erasures',
    { row_key: ROW, column_name: AWAY, reason },
    202,
    { state: 'erasing', waits_for: ERASING.waits_for },
    ['eraseCells', { row_key: ROW, column_name: AWAY, reason }],
  ],
  [
    'GET trips/erasures?limit=1',
    undefined,
    200,
    { erasures: [ERASED], next: ERASED.id },
    ['listErasures', { limit: 1 }],
  ],
  [
    `GET trips/erasures?open=true&after=${ERASED.id}`,
    undefined,
    200,
    { erasures: [ERASING], next: null },
    ['listErasures', { open: true, limit: 100, after: ERASED.id }],
  ],
  [`GET trips/erasures/${ERASED.id}`, undefined, 200, ERASED, ['getErasure', { erasure: ERASED.id }]],
  [
    'GET trips/erasures/subjects?limit=7&after=abc',
    undefined,
    200,
    { subjects: [FORGOTTEN], next: null },
    ['listForgotten', { limit: 7, after: 'abc' }],
  ],
  ['GET trips/retention', undefined, 200, KEPT],
];

it.each(ROWS.map((row) => [row[0], row[1], row] as const))(
  '%s %j',
  async (request, body, [, , status, json, asked]) => {
    const done = await ask(request, body);
    expect(done.answer).toMatchObject({ status, json });
    expect(done.asked).toEqual(asked === undefined ? [] : [asked]);
  },
);

it.each([
  ['POST trips/erasures', { row_key: ROW, reason }],
  ['POST trips/subjects/forget', { subject: 'Ann Smith', reason }],
])('%s writes down who asks', async (request, body) => {
  const { answer } = await ask(request, body, 'eve');
  expect(answer).toMatchObject({ status: 200, json: { requested_by: PEER, reason } });
});

describe('subjects', () => {
  it('are forgotten by who asks, and no log says whom', async () => {
    const lines: unknown[][] = [];
    const info = vi.spyOn(logger, 'info').mockImplementation((...line) => void lines.push(line));
    const { asked } = await ask('POST trips/subjects/forget', { subject: 'Ann Smith', reason }, 'eve');
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
    const { answer, asked } = await ask('POST trips/subjects/forget', body);
    expect(answer).toMatchObject({ status: 400, json: { code, field } });
    expect(answer.text).not.toMatch(/Ann|xxx/u);
    expect(asked).toEqual([]);
  });
});
