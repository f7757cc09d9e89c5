/**
 * `node test/infra/package/from-registry.ts`: packs the package and installs it with npm into an empty folder. Reports
 * whether it works with each of Node 20, 22 and 24 and TypeScript 5.9 and 7 from the registry. Takes a minute or two,
 * and the network, so it is no part of the tests.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MANIFEST, pack } from './packed.ts';

const NODES = [20, 22, 24];
const COMPILERS = ['5.9', '7'];
const OPTIONS = [
  ['--module', 'nodenext'],
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
];
const PROGRAM = `
import { defineDatastore, openDatastore, tail, putAll, type StandardSchema } from '@schemaless-store/schemaless';
import { requestSigner } from '@schemaless-store/schemaless/sign';
import { consume, triggerHandler } from '@schemaless-store/schemaless/triggers';
declare const column: StandardSchema<{ fare: number }>;
const trips = defineDatastore({ name: 'trips', columns: { BASE: column } });
const store = openDatastore(trips, { url: 'http://127.0.0.1:4000', sign: requestSigner('eu-west-1') });
await store.put({ row_key: '', column_name: 'BASE', body: { fare: 1 } });
// @ts-expect-error
await store.put({ row_key: '', column_name: 'BASIS', body: { fare: 1 } });
export const all = [tail, putAll, consume, triggerHandler('t', async (_key, message) => void message.added_id.toFixed())];
`;
const RUN = `
const { schemalessClient } = await import('@schemaless-store/schemaless');
const { triggerHandler } = await import('@schemaless-store/schemaless/triggers');
const { requestSigner } = await import('@schemaless-store/schemaless/sign');
const { default: api } = await import('@schemaless-store/schemaless/openapi.json', { with: { type: 'json' } });
const fetch = async () => Response.json({ outcome: 'stored', shard: 1, added_id: 2 });
const trips = schemalessClient({ url: 'http://a.test', datastore: 'trips', fetch });
const { outcome } = await trips.put({ row_key: crypto.randomUUID(), column_name: 'A', ref_key: 0, body: 2n ** 60n });
console.log(process.version, outcome, triggerHandler('t', () => {}).trigger, typeof requestSigner, api.openapi);
`;

const folder = mkdtempSync(join(tmpdir(), 'schemaless-registry-'));
try {
  const tarball = await pack(folder);
  const app = join(folder, 'app');
  const npm = (...args: string[]): unknown =>
    execFileSync('npm', args, { cwd: app, stdio: ['ignore', 'ignore', 'inherit'], env: withoutOurs() });
  execFileSync('mkdir', [app]);
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(app, 'program.ts'), PROGRAM);
  npm('install', '--no-audit', '--no-fund', tarball, ...Object.keys(MANIFEST.peerDependencies), '@types/node@20');
  for (const version of COMPILERS) {
    npm('install', '--no-audit', '--no-fund', '--no-save', `typescript@${version}`);
    for (const options of OPTIONS) {
      const args = ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022'];
      execFileSync(process.execPath, [...args, '--types', 'node', ...options, 'program.ts'], {
        cwd: app,
        stdio: 'inherit',
      });
      console.log(`TypeScript ${version} ${options.join(' ')}: compiles`);
    }
  }
  for (const version of NODES) {
    npm('install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts=false', `node@${version}`);
    execFileSync(join(app, 'node_modules/node/bin/node'), ['--input-type=module', '-e', RUN], {
      cwd: app,
      stdio: 'inherit',
    });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the environment without npm's variables of this project, which are not meant for the app. */
function withoutOurs(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?:package|lifecycle|command|config_local)/u.test(name)),
  );
}
