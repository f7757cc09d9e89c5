import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { mysqlClient } from '../../shared/sql/mysql-client.ts';
import { BUNDLING } from '../../infra/stacks/bundles.ts';
import { runBundler } from '../../infra/stacks/run-bundler.ts';

const SOURCE = 'shared/sql/mysql-client.ts';

/** Returns `mysqlClient` as functions behind RDS Proxy have it: packed, and without what they never call. */
export async function bundledMysqlClient(): Promise<typeof mysqlClient> {
  const folder = mkdtempSync(join(tmpdir(), 'schemaless-bundled-'));
  try {
    const { files } = runBundler({ ...BUNDLING, entryPoints: [SOURCE], outdir: folder }, true);
    const file = join(folder, 'index.mjs');
    writeFileSync(file, files.find(({ path }) => path.endsWith('.mjs'))?.text ?? '');
    return ((await import(pathToFileURL(file).href)) as { readonly mysqlClient: typeof mysqlClient }).mysqlClient;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
