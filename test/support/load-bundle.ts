import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { BUNDLING } from '../../infra/stacks/bundles.ts';
import { runBundler } from '../../infra/stacks/run-bundler.ts';

/** Loads files as functions behind RDS Proxy have them: packed, and without what they never call. */
export async function loadBundle<Exports>(...files: readonly string[]): Promise<Exports> {
  const folder = mkdtempSync(join(tmpdir(), 'schemaless-bundled-'));
  try {
    const contents = files.map((file) => `export * from './${file}';`).join('\n');
    const options = { ...BUNDLING, stdin: { contents, resolveDir: PROJECT_ROOT }, outdir: folder };
    const bundle = runBundler(options, true).files.find(({ path }) => path.endsWith('.mjs'));
    const file = join(folder, 'index.mjs');
    writeFileSync(file, bundle?.text ?? '');
    return (await import(pathToFileURL(file).href)) as Exports;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
