import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { testsWithoutMysql } from './test/support/touches-mysql.ts';

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
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // As long as a busy machine may take; a second by default.
    expect: { poll: { timeout: 15_000 } },
    // Tests that wait for much of their time, and are marked so, go beside others of their file.
    maxConcurrency: 20,
    // One more than two cores, since many tests wait; they share them with the servers they talk to.
    maxWorkers: 3,
  },
});
