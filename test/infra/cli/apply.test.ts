import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyFolder } from '../../../infra/cli/commands/definitions.ts';
import type { AppliedOutcome } from '../../../shared/api/definitions.ts';
import type { ApiClient } from '../../../shared/client/api-client.ts';
import { DefinitionsError } from '../../../shared/definitions/definitions-error.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeFiles } from '../support/write-files.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder[Symbol.dispose]());

type Desired = Parameters<ApiClient['applyDefinitions']>[0];

/** Needs so many calls until all is made, and keeps what they were. */
function operations(rounds: number): { readonly asked: Desired[]; readonly api: Pick<ApiClient, 'applyDefinitions'> } {
  const asked: Desired[] = [];
  const applyDefinitions = async (desired: Desired): Promise<AppliedOutcome> => {
    asked.push(desired);
    const change = asked.length === 1 ? 'create' : 'none';
    return {
      done: asked.length >= rounds,
      dry_run: false,
      changes: [{ kind: 'datastore', datastore: 'shop', name: 'shop', change, shards: 16 }],
      warnings: [],
    };
  };
  return { asked, api: { applyDefinitions } };
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
    expect(Object.keys(asked[0]?.files ?? {}).sort()).toEqual(['shop/datastore.yaml', 'shop/triggers/send.yaml']);
  });

  it('asks once what it would change', async () => {
    writeFiles(folder.path, { 'shop/datastore.yaml': 'datastore: shop\nshards: 16\n' });
    const { asked, api } = operations(3);
    await applyFolder(api, folder.path, true);
    expect(asked.map(({ dry_run }) => dry_run)).toEqual([true]);
  });

  it('sends nothing if the folder has problems', async () => {
    writeFiles(folder.path, {
      'shop/datastore.yaml': 'datastore: shop\nshards: 16\n',
      'shop/index/by_buyer.yaml': 'table: by_buyer\n',
    });
    const { asked, api } = operations(1);
    await expect(applyFolder(api, folder.path)).rejects.toThrow(DefinitionsError);
    expect(asked).toEqual([]);
  });
});
