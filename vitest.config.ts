import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { testsWithoutMysql } from './test/support/touches-mysql.ts';
import { PATIENCE_MS } from './test/support/until.ts';

// Tests start many processes, and each would compile the same sources.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node');

const EVERY_TEST = 'test/**/*.test.ts';
const NIGHTLY = 'test/**/*.nightly.test.ts';
const withoutServers = testsWithoutMysql();

/** End what hangs, on a machine that may have much else to do: neither says how long anything should take. */
const LIMITS = { testTimeout: 180_000, hookTimeout: 240_000, expect: { poll: { timeout: PATIENCE_MS } } };

/**
 * Files share workers: they leave no mock, timer, variable or folder behind, and register their hooks themselves. Node
 * runs their TypeScript as it is; the nightly examples go through Vite, which knows what their readers install.
 */
const shared = { ...LIMITS, isolate: false, experimental: { viteModuleRunner: false } };

const onServers = {
  // One set of MySQL servers serves the whole run; files bring their own datastores.
  globalSetup: ['test/support/servers.ts'],
  // Tests marked as waiting for much of their time run in parallel with others of their file.
  maxConcurrency: 20,
};

export default defineConfig({
  // Examples import what their readers install.
  resolve: { tsconfigPaths: true },
  test: {
    setupFiles: ['./test/support/logs-to-console.ts'],
    reporters: ['./test/support/brief-reporter.ts'],
    // Shows the product's logs with the failing test.
    silent: 'passed-only',
    // One more than two cores, since many tests wait for the servers that they talk to.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'plain',
          include: withoutServers.filter((file) => !file.endsWith('.nightly.test.ts')),
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          ...onServers,
          name: 'store',
          include: [EVERY_TEST],
          exclude: [...configDefaults.exclude, NIGHTLY, ...withoutServers],
        },
      },
      {
        extends: true,
        test: {
          ...LIMITS,
          ...onServers,
          name: 'nightly',
          include: [NIGHTLY],
          globalSetup: [...onServers.globalSetup, 'test/support/whole-stack.ts'],
        },
      },
    ],
  },
});
