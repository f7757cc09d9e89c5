import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll } from 'vitest';
import { PROJECT_ROOT } from '../../../../infra/app-context.ts';
import { BROUGHT, packed, tsc, unpack } from '../../package/packed.ts';

export const COMPILED = { module: 'nodenext', allowImportingTsExtensions: true, types: ['node'], skipLibCheck: true };

interface InstalledExample {
  /** A project with the package installed. */
  readonly project: string;
  /** The folder of the example in it, with the same path as in this project. */
  readonly example: string;
  /** Runs one of its programs; resolves with what it prints. */
  run(program: string, ...parameters: string[]): Promise<string>;
  /** Returns the output that its page shows. */
  shown(): string;
}

/**
 * Installs the package and an example in a folder before the tests of a file, and has the compiler check the example.
 */
export function installedExample(name: string, folder: { readonly path: string }): InstalledExample {
  const project = join(folder.path, 'project');
  const example = join(project, 'infra/examples', name);
  beforeAll(async () => {
    unpack(await packed(), project, [...BROUGHT, 'zod']);
    cpSync(join(PROJECT_ROOT, 'infra/examples', name), example, { recursive: true });
    const wrong = tsc(project, COMPILED);
    if (wrong !== '') throw new Error(wrong);
  }, 240_000);
  return {
    project,
    example,
    async run(program, ...parameters) {
      return (await promisify(execFile)(process.execPath, [program, ...parameters], { cwd: example })).stdout;
    },
    shown() {
      const [, shown] = /^```text\n(.*?)^```$/msu.exec(readFileSync(join(example, 'README.md'), 'utf8')) ?? [];
      if (shown === undefined) throw new Error(`the page of ${name} says nothing of what is printed`);
      return shown;
    },
  };
}
