import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyFolder } from '../../../infra/cli/commands/apply.ts';
import type { AppliedOutcome, DefinitionOperations } from '../../../shared/contract/definition-operations.ts';
import { DefinitionsError } from '../../../shared/definitions/definitions-error.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeFiles } from '../support/write-files.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder[Symbol.dispose]());

/** Needs so many calls until all is made, and keeps what they were. */
function operations(rounds: number): { readonly asked: unknown[][]; readonly api: DefinitionOperations } {
  const asked: unknown[][] = [];
  const never = async (): Promise<never> => {
    throw new Error('not asked for');
  };
  const apply = async (...call: unknown[]): Promise<AppliedOutcome> => {
    asked.push(call);
    const change = asked.length === 1 ? 'create' : 'none';
    return {
      done: asked.length >= rounds,
      dry_run: false,
      changes: [{ kind: 'datastore', datastore: 'shop', name: 'shop', change, shards: 16 }],
      warnings: [],
    };
  };
  return { asked, api: { apply, deleteIndex: never, deleteTrigger: never } };
}

describe('applying a folder', () => {
  it('sends all of it, again until it is done, and says what that changed', async () => {
    writeFiles(folder.path, {
      'shop/datastore.yaml': 'datastore: shop\nshards: 16\n',
      'shop/triggers/send.yaml': "trigger: send\ndatastore: shop\ncolumns: '*'\n",
      'README.md': 'not of the definitions',
    });
    const { asked, api } = operations(3);
    const outcome = await applyFolder(api, folder.path);
    expect(outcome).toMatchObject({ done: true, changes: [{ change: 'create' }] });
    expect(asked).toHaveLength(3);
    expect(Object.keys(Object(asked[0]?.[0])).sort()).toEqual(['shop/datastore.yaml', 'shop/triggers/send.yaml']);
  });

  it('asks once what it would change', async () => {
    writeFiles(folder.path, { 'shop/datastore.yaml': 'datastore: shop\nshards: 16\n' });
    const { asked, api } = operations(3);
    await applyFolder(api, folder.path, { dryRun: true });
    expect(asked.map(([, options]) => options)).toEqual([{ dry_run: true }]);
  });

  it('asks nobody where the folder has problems', async () => {
    writeFiles(folder.path, {
      'shop/datastore.yaml': 'datastore: shop\nshards: 16\n',
      'shop/index/by_buyer.yaml': 'table: by_buyer\n',
    });
    const { asked, api } = operations(1);
    await expect(applyFolder(api, folder.path)).rejects.toThrow(DefinitionsError);
    expect(asked).toEqual([]);
  });
});
