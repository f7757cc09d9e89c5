import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { FUNCTIONS, packed, unpack } from '../package/packed.ts';
import { writeFiles } from '../support/write-files.ts';

const PAGE = readFileSync(join(PROJECT_ROOT, 'infra/docs/cdk.md'), 'utf8');
export const FILES: Readonly<Record<string, string>> = Object.fromEntries(
  [...PAGE.matchAll(/^```\w+\n(?:#|\/\/) (?<path>\S+\.(?:yaml|ts))\n(?<text>.*?)^```/gmsu)].map(({ groups }) => [
    groups?.['path'] ?? '',
    groups?.['text'] ?? '',
  ]),
);

const COMPILER = {
  target: 'es2022',
  module: 'nodenext',
  lib: ['esnext'],
  types: ['node'],
  strict: true,
  skipLibCheck: true,
};

/** Fills an empty folder with the page's app, and with the packages and their peers as npm would bring them. */
export async function makeForeignApp(folder: string): Promise<void> {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));
  const others = Object.keys({ ...dependencies, ...devDependencies });
  unpack(await packed(), folder, others);
  unpack(await packed(FUNCTIONS), folder, [], '@schemaless-store/functions');

  // Of the app: nothing of it is ours.
  write(join(folder, 'package.json'), { type: 'module' });
  write(join(folder, 'package-lock.json'), {});
  write(join(folder, 'tsconfig.json'), {
    compilerOptions: { ...COMPILER, noEmit: true, allowImportingTsExtensions: true },
    include: ['*.ts', 'functions'],
  });
  writeFiles(folder, FILES);
}

export function compile(folder: string, project: string): void {
  const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(folder, project)], { stdio: ['ignore', 2, 2] });
}

/** Synthesizes a file of the app that exports one, held to the rules of AwsSolutions, and code that follows it. */
export function synthesize(folder: string, file: string, more: string, context: object = {}): string {
  const out = join(folder, `cdk.out-${file}`);
  const run = join(folder, `run-${file}`);
  writeFileSync(
    run,
    `import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { app } from './${file}';
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
${more}
app.synth();
`,
  );
  const env = {
    ...process.env,
    CDK_OUTDIR: out,
    CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:enable-asset-metadata': true, ...context }),
  };
  execFileSync(process.execPath, [run], { cwd: folder, env, stdio: 'pipe', encoding: 'utf8' });
  return out;
}

function write(path: string, content: object): void {
  writeFileSync(path, JSON.stringify(content));
}
