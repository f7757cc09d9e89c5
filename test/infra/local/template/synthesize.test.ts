import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { DEPLOYED_APP, synthesize } from '../../../../infra/local/template/synthesize.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it(
  'a function that cannot be bundled is told with what is wrong where, and nothing of how that was found',
  { timeout: 120_000 },
  async () => {
    using folder = temporaryFolder();
    const files = {
      'datastores/shop/datastore.yaml': 'datastore: shop\nshards: 4\n',
      'datastores/shop/triggers/confirm_order.yaml':
        "trigger: confirm_order\ndatastore: shop\ncolumns: '*'\nfunction: functions/confirm-order.ts\n",
      'functions/confirm-order.ts':
        "export const handler = 1;\nimport { nothing } from './not-there.ts';\nconsole.log(nothing);\n",
    };
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder.path, file)), { recursive: true });
      writeFileSync(join(folder.path, file), text);
    }
    const context = { environment: 'local', datastores: join(folder.path, 'datastores'), project: folder.path };
    const message = await synthesize({ app: DEPLOYED_APP, context, folder: join(folder.path, 'out') }).then(
      () => 'it was bundled',
      (error: Error) => error.message,
    );
    expect(message).toMatch(/^The synthesis failed: /u);
    expect(message).toMatch(/Could not resolve "\.\/not-there\.ts"\s+\S*functions\/confirm-order\.ts:2:/u);
    expect(message).not.toMatch(/^\s+at /mu);
    expect(message.split('\n').length).toBeLessThan(10);
  },
);
