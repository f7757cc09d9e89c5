import { describe, expect, it } from 'vitest';
import { createResolver, type ResourceValues } from '../../../../infra/local/template/resolver.ts';
import type { LoadedStack, TemplateResource } from '../../../../infra/local/template/template.ts';

const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:login';

const values: ResourceValues = {
  ref: ({ logicalId }) => `ref-${logicalId}`,
  attribute: ({ logicalId }, name) => (name === 'Port' ? 3306 : `${logicalId}.${name}`),
  secret: (id) => {
    if (id !== SECRET_ARN) throw new Error(`No secret ${id}`);
    return JSON.stringify({ username: 'someone', password: 'a:b}c' });
  },
};

function valueOf(value: unknown, more: Partial<TemplateResource> = {}): unknown {
  const first: LoadedStack = {
    name: 'first',
    folder: '/nowhere',
    template: {
      Resources: { Table: { Type: 'T' } },
      Outputs: { Name: { Value: { Ref: 'Table' }, Export: { Name: { 'Fn::Sub': '${AWS::StackName}:TableName' } } } },
    },
  };
  const stack: LoadedStack = {
    name: 'second',
    folder: '/nowhere',
    template: {
      Resources: { It: { Type: 'T', Properties: { value }, ...more } },
      Parameters: { Size: { Default: 'big' } },
    },
  };
  const resolver = createResolver([first, stack], values);
  const it = resolver.resources.find(({ logicalId }) => logicalId === 'It');
  if (!it) throw new Error('wanted the resource It');
  return resolver.property(it, 'value');
}

describe('the resolver of templates', () => {
  it.each<[string, unknown, unknown]>([
    ['plain values', { a: [1, 'two', true, null] }, { a: [1, 'two', true, null] }],
    ['Ref of a resource', { Ref: 'It' }, 'ref-It'],
    ['Ref of a pseudo parameter', { Ref: 'AWS::Region' }, 'us-east-1'],
    ['GetAtt', { 'Fn::GetAtt': ['It', 'Endpoint.Address'] }, 'It.Endpoint.Address'],
    ['GetAtt as text', { 'Fn::GetAtt': 'It.Arn' }, 'It.Arn'],
    ['Join', { 'Fn::Join': ['-', ['a', { Ref: 'It' }, { 'Fn::GetAtt': ['It', 'Port'] }]] }, 'a-ref-It-3306'],
    ['Sub', { 'Fn::Sub': '${AWS::StackName}/${It}/${It.Arn}/${!It}' }, 'second/ref-It/It.Arn/${It}'],
    ['Sub with values', { 'Fn::Sub': ['${x}:${It}', { x: { Ref: 'AWS::Partition' } }] }, 'aws:ref-It'],
    ['Select of Split', { 'Fn::Select': [1, { 'Fn::Split': ['-', { Ref: 'It' }] }] }, 'It'],
    ['Select of GetAZs', { 'Fn::Select': [1, { 'Fn::GetAZs': '' }] }, 'us-east-1b'],
    ['Ref of a parameter', { Ref: 'Size' }, 'big'],
    ['ImportValue across stacks', { 'Fn::ImportValue': 'first:TableName' }, 'ref-Table'],
    ['NoValue in a mapping', { a: 1, b: { Ref: 'AWS::NoValue' } }, { a: 1 }],
    ['NoValue in a list', [1, { Ref: 'AWS::NoValue' }, 2], [1, 2]],
    ['two keys, of which one looks like a function', { Ref: 'It', other: 1 }, { Ref: 'It', other: 1 }],
    [
      'a member of a secret',
      { 'Fn::Join': ['', ['{{resolve:secretsmanager:', SECRET_ARN, ':SecretString:username::}}']] },
      'someone',
    ],
    [
      'a secret inside a text',
      `user=someone password={{resolve:secretsmanager:${SECRET_ARN}:SecretString:password::}}!`,
      'user=someone password=a:b}c!',
    ],
  ])('works out %s', (_, value, wanted) => {
    expect(valueOf(value)).toEqual(wanted);
  });

  it('refuses a resource with a condition, which it does not judge', () => {
    expect(() => valueOf('any', { Condition: 'Never' })).toThrow('It (T) of second: wanted no condition');
  });

  it.each<[string, unknown, RegExp]>([
    ['a resource that is not there', { Ref: 'Other' }, /^It \(T\) of second, value: second has no resource Other/u],
    ['a function that is not known', { 'Fn::Transform': {} }, /does not know the function Fn::Transform/u],
    ['an export that is not there', { 'Fn::ImportValue': 'other' }, /No stack of the app exports other/u],
    ['a secret that is not there', '{{resolve:secretsmanager:other:SecretString:password::}}', /No secret other/u],
    ['an argument that cannot be used', { 'Fn::Join': ['-'] }, /Fn::Join: wanted a list of 2, got \["-"\]/u],
  ])('names the resource and property with %s', (_, value, message) => {
    expect(() => valueOf(value)).toThrow(message);
  });
});
