import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import { statementsOf } from '../support/statements.ts';
import { appOf, resourcesOf } from '../support/synthesized.ts';

describe.each(ENVIRONMENT_NAMES)('the function that creates datastores in %s', (environment) => {
  const { stacks } = appOf({ environment });
  const isThere = ENVIRONMENTS[environment].definedByApi !== undefined;
  const queues = [...statementsOf(stacks)].flatMap(([role, statements]) =>
    statements.flatMap(({ actions, resources }) =>
      actions.flatMap((action) => resources.map((resource) => ({ role, action, resource }))),
    ),
  );

  it('is there only where the environment says so', () => {
    const functions = resourcesOf(stacks, 'AWS::Lambda::Function').filter(({ Properties }) =>
      String(Properties?.['Description']).includes('without a deployment'),
    );
    expect(functions).toHaveLength(isThere ? 1 : 0);
    expect(isThere).toBe(environment === 'local' || environment === 'dev');
    for (const { Properties } of functions)
      expect(Object(Properties?.['Environment']).Variables).toMatchObject({
        SCHEMALESS_DATABASE_USER: 'owner',
        SCHEMALESS_CAN_SEAL: 'true',
        SCHEMALESS_MOST_SHARDS: String(ENVIRONMENTS[environment].definedByApi?.mostShards),
      });
  });

  it('makes and deletes queues of one prefix, and no other function does', () => {
    const own = queues.filter(({ role, action }) => role === 'definedatastores' && action.startsWith('sqs:'));
    for (const { resource } of own) expect(resource).toContain(`:schemaless-${environment}--*"`);
    const making = queues.filter(({ action }) =>
      ['sqs:CreateQueue', 'sqs:DeleteQueue', 'sqs:SetQueueAttributes'].includes(action),
    );
    expect(new Set(making.map(({ role }) => role))).toEqual(new Set(isThere ? ['definedatastores'] : []));
    for (const { resource } of making) expect(resource).toContain(`:schemaless-${environment}--*"`);
  });

  it('leaves sending and management to the functions of other triggers', () => {
    const ofPrefix = queues.filter(({ resource }) => resource.includes(`:schemaless-${environment}--*`));
    expect(new Set(ofPrefix.map(({ role }) => role))).toEqual(
      new Set(isThere ? ['definedatastores', 'managetriggers', 'tailshards'] : []),
    );
    for (const { resource } of ofPrefix.filter(({ action }) => action === 'sqs:ReceiveMessage'))
      expect(resource).toContain(`:schemaless-${environment}--*-dead.fifo"`);
    expect(ofPrefix.filter(({ action }) => action === 'sqs:SendMessage').map(({ role }) => role)).toEqual(
      isThere ? ['tailshards'] : [],
    );
  });
});
