import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../../shared/api/routes.ts';
import { words } from '../../support/words.ts';
import { propertiesOf, synthesized } from '../support/synthesized.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';

const folder = folderOfTests();
const policies = propertiesOf(synthesized(folder.path, { environment: 'prod' }), 'AWS::IAM::ManagedPolicy');

/** What a policy allows, as patterns of "METHOD/path". */
function patternsOf(described: string): readonly RegExp[] {
  const [policy, ...others] = policies.filter(({ Description }) => String(Description).includes(described));
  expect(others).toEqual([]);
  const { Statement } = Object(policy?.['PolicyDocument']) as {
    readonly Statement: readonly { readonly Action: string; readonly Effect: string; readonly Resource: unknown }[];
  };
  return Statement.flatMap(({ Action, Effect, Resource }) => {
    expect([Action, Effect]).toEqual(['execute-api:Invoke', 'Allow']);
    return [Resource].flat().map((resource) => {
      const arn = JSON.stringify(resource);
      expect(arn).toContain('execute-api');
      const [, pattern = ''] = /\/\$default\/(?<pattern>[^"]*)"/u.exec(arn) ?? [];
      return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 'u');
    });
  });
}

function allows(patterns: readonly RegExp[], { method, path }: (typeof ROUTES)[number], datastore: string): boolean {
  const called = `${method}${path.replace('{datastore}', datastore).replaceAll(/\{\w+\}/gu, 'x')}`;
  return patterns.some((pattern) => pattern.test(called));
}

const WRITES = words(`
  putCell batchPut batchRestore pauseTrigger resumeTrigger rewindTrigger retryParkedCells discardParkedCells
  replayDeadMessages discardDeadMessages discardBufferConflicts keepUndecidedWrites applyDefinitions
  deleteDatastore deleteIndex deleteTrigger`);
const OF_CLIENTS = words(`
  putCell batchPut getCell getLatestCell listVersions getRow batchGet batchRead readShardLog digestLog readLog
  listShards   listIndexes queryIndex countEntries batchQuery`);
const OF_MOVERS = words(`
  listMoves createMove getMove switchMove reverseMove completeMove cancelMove verifyMove listShards
  listShardSizes getHealth`);
/** Of those, what belongs to nobody else but operators. */
const MOVES = OF_MOVERS.filter((operation) => operation.endsWith('Move') || operation.endsWith('Moves'));
const OF_ERASERS = words(`
  eraseCells listErasures getErasure getRetention listHolds putHold releaseHold purgeSpace
  getReceiptKey forgetSubject listForgotten`);

describe('the policies of callers', () => {
  it.each(ROUTES)(
    'let readers call $operation only if it changes nothing, and is no matter of moves or erasures',
    (route) => {
      const wanted = ![...WRITES, ...MOVES, ...OF_ERASERS].includes(route.operation);
      expect(allows(patternsOf('reads every datastore'), route, 'trips')).toBe(wanted);
    },
  );

  it.each(ROUTES)('let movers call $operation only if moving shards takes it', (route) => {
    const patterns = patternsOf('moves shards between groups');
    expect(allows(patterns, route, 'trips')).toBe(OF_MOVERS.includes(route.operation));
  });

  it.each(ROUTES)('let erasers call $operation only if it is of erasures', (route) => {
    expect(allows(patternsOf('erases cells and forgets subjects'), route, 'trips')).toBe(
      OF_ERASERS.includes(route.operation),
    );
  });

  it.each(ROUTES)('let the clients of one datastore call $operation of no other', (route) => {
    const patterns = patternsOf('reads and writes datastore trips');
    expect(allows(patterns, route, 'trips')).toBe(OF_CLIENTS.includes(route.operation));
    if (route.path.includes('{datastore}')) expect(allows(patterns, route, 'smoke')).toBe(false);
  });

  it.each(ROUTES)('let operators call $operation', (route) => {
    expect(allows(patternsOf('operates the store'), route, 'trips')).toBe(true);
  });
});

describe('the console', () => {
  const withIt = synthesized(folder.path, { environment: 'local' });
  const allowed = (described: string): boolean =>
    propertiesOf(withIt, 'AWS::IAM::ManagedPolicy')
      .filter(({ Description }) => String(Description).includes(described))
      .some(({ PolicyDocument }) =>
        ['GET', 'HEAD'].every((method) => JSON.stringify(PolicyDocument).includes(`/${method}/console`)),
      );

  it('is opened by people, not by programs', () => {
    for (const people of ['reads every datastore', 'moves shards', 'erases cells', 'operates the store'])
      expect(allowed(people)).toBe(true);
    expect(allowed('reads and writes datastore trips')).toBe(false);
  });

  it('is where an environment says so, behind IAM as all else', () => {
    const routesOf = (resources: typeof withIt): readonly unknown[] =>
      propertiesOf(resources, 'AWS::ApiGatewayV2::Route').filter(({ RouteKey }) =>
        String(RouteKey).includes('/console'),
      );
    expect(routesOf(synthesized(folder.path, { environment: 'prod' }))).toEqual([]);
    expect(routesOf(withIt)).toHaveLength(4);
    for (const route of routesOf(withIt)) expect(route).toMatchObject({ AuthorizationType: 'AWS_IAM' });
  });
});
