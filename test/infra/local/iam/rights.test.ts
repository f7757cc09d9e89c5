import { describe, expect, it } from 'vitest';
import { readRights } from '../../../../infra/local/iam/rights.ts';
import type { Call, WrittenStatement } from '../../../../infra/local/iam/statement.ts';

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/state';
const KEYS = 'dynamodb:LeadingKeys';
const allow = (rest: object): WrittenStatement => ({ Effect: 'Allow', Action: 'dynamodb:*', Resource: '*', ...rest });
const ofKeys = (operator: string, ...keys: readonly string[]) => ({ Condition: { [operator]: { [KEYS]: keys } } });
const call = (rest: Partial<Call> = {}): Call => ({ action: 'dynamodb:GetItem', resource: TABLE, ...rest });
const withKeys = (...keys: readonly string[]) => call({ context: { [KEYS]: keys } });
const isAllowed = (statements: readonly WrittenStatement[], asked: Call): boolean =>
  readRights({ KEY: { name: 'fn', role: 'role', statements } }).whyRefused('KEY', asked) === undefined;

describe('the rights of a function', () => {
  it.each([
    ['no statement', [], call(), false],
    ['its action and resource', [allow({ Action: ['dynamodb:GetItem'], Resource: [TABLE] })], call(), true],
    ['its action in another case', [allow({ Action: 'DynamoDB:getitem' })], call(), true],
    ['another action', [allow({ Action: 'dynamodb:PutItem' })], call(), false],
    ['another resource', [allow({ Resource: `${TABLE}s` })], call(), false],
    ['a resource in another case', [allow({ Resource: TABLE.toUpperCase() })], call(), false],
    ['a pattern of it', [allow({ Resource: 'arn:*:table/st?te' })], call(), true],
    ['a dot that stands for itself', [allow({ Resource: 'arn.aws*' })], call(), false],
    ['all of its keys', [allow(ofKeys('ForAllValues:StringLike', 'a#*', 'b'))], withKeys('a#1', 'b'), true],
    ['some of its keys', [allow(ofKeys('ForAllValues:StringLike', 'a#*'))], withKeys('a#1', 'b'), false],
    ['keys of a call without any, as AWS does', [allow(ofKeys('ForAllValues:StringLike', 'a'))], call(), true],
    ['a key that a call lacks', [allow(ofKeys('ArnLike', 'a'))], call(), false],
    ['a key of which a call has more', [allow(ofKeys('ArnLike', 'a'))], withKeys('a', 'a'), false],
    ['a denial beside it', [allow({}), { Effect: 'Deny', Action: '*', Resource: TABLE }], call(), false],
    [
      'its keys in another case',
      [allow({ Condition: { ArnLike: { 'DynamoDB:leadingkeys': 'a' } } })],
      withKeys('a'),
      true,
    ],
    [
      'what it may not judge of another service',
      [allow({}), { Effect: 'Deny', Action: 's3:*', NotResource: 'a' }],
      call(),
      true,
    ],
    ['a denial of something else', [allow({}), { Effect: 'Deny', Action: 'sqs:*', Resource: '*' }], call(), true],
  ] as const)('by %s', (_what, statements, asked, allowed) => {
    expect(isAllowed(statements, asked)).toBe(allowed);
  });

  it('name the refused caller, action and item', () => {
    expect(
      readRights({ KEY: { name: 'fn', role: 'role', statements: [] } }).whyRefused('KEY', withKeys('lease#a')),
    ).toBe(
      `User: arn:aws:sts::000000000000:assumed-role/role/fn is not authorized to perform: dynamodb:GetItem on resource: ${TABLE} with ${KEYS} lease#a because no identity-based policy allows the dynamodb:GetItem action`,
    );
  });

  it.each([undefined, 'local', 'AKIAIOSFODNN7EXAMPLE'])('are no matter of the owner, who signs with %s', (key) => {
    const rights = readRights({ KEY: { name: 'fn', role: 'role', statements: [] } });
    expect([rights.knows(key), rights.whyRefused(key, call())]).toEqual([false, undefined]);
  });

  it.each([
    [
      { NotAction: 'dynamodb:Scan' },
      'role: a statement: wanted Sid, Effect, Action, Resource, Condition, got NotAction',
    ],
    [{ Effect: 'allow' }, 'role: Effect: wanted Allow or Deny, got "allow"'],
    [{ Resource: { Ref: 'Table' } }, 'role: Resource: wanted text, got {"Ref":"Table"}'],
    [
      { Condition: { ArnLike: { 'aws:PrincipalTag/team': 'a' } } },
      'role: Condition: wanted one of dynamodb:LeadingKeys, aws:SourceArn, got aws:PrincipalTag/team',
    ],
    [
      { Condition: { IpAddress: { [KEYS]: '10.0.0.0/8' } } },
      'role: Condition: wanted one of ForAllValues:StringLike, ArnLike, got IpAddress',
    ],
    [{ Resource: 'arn:aws:dynamodb:*:*:table/${aws:PrincipalTag/team}' }, 'role: Resource: wanted no policy variable'],
  ])('are refused where they cannot be judged as AWS does: %j', (rest, message) => {
    expect(() => readRights({ KEY: { name: 'fn', role: 'role', statements: [allow(rest)] } })).toThrow(message);
  });
});
