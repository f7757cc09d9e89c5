/** Bundles the functions into the functions' package, for each access. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CONSOLE_HANDLER } from '../../shared/api/operations.ts';
import { PROJECT_ROOT } from '../app-context.ts';
import { packPage } from '../console/pack-page.ts';
import { READY_MADE, wayFolder, type BundledWay } from '../constructs/function-code.ts';
import { storeFunctionsIn } from './bundled-from-source.ts';
import { writeBundles } from './bundles.ts';

/** RDS Proxy speaks MySQL's protocol alone. */
const WAYS: readonly BundledWay[] = [
  { access: 'data-api', proxy: false },
  { access: 'mysql', proxy: false },
  { access: 'mysql', proxy: true },
];

const FOLDER = join(PROJECT_ROOT, 'infra/package/functions', READY_MADE);

mkdirSync(FOLDER, { recursive: true });
for (const name of readdirSync(FOLDER)) rmSync(join(FOLDER, name), { recursive: true, force: true });
const functions = storeFunctionsIn(join(PROJECT_ROOT, 'functions'));
// The page is included with or without routes.
const alongside = { [CONSOLE_HANDLER]: packPage() };
for (const way of WAYS) writeBundles({ functions, ...way, alongside, folder: join(FOLDER, wayFolder(way)) });
