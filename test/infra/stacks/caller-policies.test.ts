import { expect, it } from 'vitest';
import { ROUTES } from '../../../shared/api/operations.ts';
import { words } from '../../support/words.ts';
import { appOf, propertiesOf } from '../support/synthesized.ts';

const policiesOf = (environment: 'prod' | 'local') =>
  propertiesOf(appOf({ environment }).stacks, 'AWS::IAM::ManagedPolicy');

function patternsOf(described: string): readonly RegExp[] {
  const [policy, ...others] = policiesOf('prod').filter(({ Description }) => String(Description).includes(described));
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

function allowed(described: string, datastore = 'trips', routes: readonly (typeof ROUTES)[number][] = ROUTES) {
  const patterns = patternsOf(described);
  return routes
    .filter(({ method, path }) => {
      const called = `${method}${path.replace('{datastore}', datastore).replaceAll(/\{\w+\}/gu, 'x')}`;
      return patterns.some((pattern) => pattern.test(called));
    })
    .map(({ operation }) => operation);
}

const WRITES = words(`
  putCell batchPut batchRestore transactRow restoreTransaction pauseTrigger resumeTrigger rewindTrigger retryParkedCells discardParkedCells
  replayDeadMessages discardDeadMessages discardBufferConflicts keepWritesInDoubt applyDefinitions
  deleteIndex deleteTrigger`);
const OF_CLIENTS = words(`
  putCell batchPut transactRow getCell getLatestCell listVersions getRow batchGet batchRead readShardLog digestLog readLog
  listShards   listIndexes queryIndex countEntries batchQuery`);
const OF_MOVERS = words(`
  listMoves createMove getMove switchMove reverseMove completeMove cancelMove verifyMove listShards
  getBuffer getHealth`);
const OF_ERASERS = words(`
  eraseCells listErasures getErasure getRetention forgetSubject listForgotten`);
const ALL: readonly string[] = ROUTES.map(({ operation }) => operation);
const NOT_OF_READERS = new Set([
  ...WRITES,
  ...OF_ERASERS,
  ...OF_MOVERS.filter((operation) => /Moves?$/u.test(operation)),
]);

it.each([
  ['reads every datastore', ALL.filter((operation) => !NOT_OF_READERS.has(operation))],
  ['moves shards between groups', OF_MOVERS],
  ['erases cells and forgets subjects', OF_ERASERS],
  ['reads and writes datastore trips', OF_CLIENTS],
  ['operates the store', ALL],
])('the policy that %s allows exactly its operations', (described, operations) => {
  expect([...allowed(described)].sort()).toEqual([...operations].sort());
});

it('the policy of the clients of one datastore allows no operation on another', () => {
  const ofDatastore = ROUTES.filter(({ path }) => path.includes('{datastore}'));
  expect(allowed('reads and writes datastore trips', 'smoke', ofDatastore)).toEqual([]);
});

it('people may open the console, programs may not', () => {
  const opens = (described: string): boolean =>
    policiesOf('local')
      .filter(({ Description }) => String(Description).includes(described))
      .some(({ PolicyDocument }) =>
        ['GET', 'HEAD'].every((method) => JSON.stringify(PolicyDocument).includes(`/${method}/console`)),
      );
  for (const people of ['reads every datastore', 'moves shards', 'erases cells', 'operates the store'])
    expect(opens(people)).toBe(true);
  expect(opens('reads and writes datastore trips')).toBe(false);
});
