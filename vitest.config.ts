import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { testsWithoutMysql } from './test/support/touches-mysql.ts';
import { PATIENCE_MS } from './test/support/until.ts';

// Of the many processes that tests start, each would compile the same sources anew.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node');

export default defineConfig({
  // Examples import what their readers install.
  resolve: { tsconfigPaths: true },
  test: {
    include: ['test/**/*.test.ts'],
    // A second engine is tried on what touches it.
    exclude: [...configDefaults.exclude, ...(process.env['SCHEMALESS_TESTS'] === 'mysql' ? testsWithoutMysql() : [])],
    // One set of MySQL servers serves the whole run; files bring their own datastores.
    globalSetup: ['test/support/servers.ts'],
    // All three end what hangs, on a machine that may have much else to do: none says how long anything should take.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: PATIENCE_MS } },
    // Tests that wait for much of their time, and are marked so, go beside others of their file.
    maxConcurrency: 20,
    // One more than two cores, since many tests wait; they share them with the servers they talk to.
    maxWorkers: 3,
  },
});
