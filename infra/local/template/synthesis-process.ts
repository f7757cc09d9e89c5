/** Synthesizes an app in its own process, with the settings of cdk.json. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { App } from 'aws-cdk-lib';
import { PROJECT_ROOT } from '../../app-context.ts';
import { BUNDLED_FILES } from '../../stacks/bundles.ts';
import { loadedModules } from './loaded-modules.ts';
import type { SynthesisOrder, SynthesisReport } from './synthesis-record.ts';

const { app: path, context, folder }: SynthesisOrder = JSON.parse(process.argv[2] ?? '');
const settings: { readonly context?: object } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
// As the command line does: bundles' paths and resources' ids in the template.
const metadata = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };
const app = new App({
  outdir: folder,
  context: { ...settings.context, ...metadata, ...context },
  // CloudFormation's rules take most of a synthesis, and matter for deployments.
  builtinCloudFormationValidation: false,
  analyticsReporting: false,
  treeMetadata: false,
});
const { buildApp }: { readonly buildApp: (app: App) => unknown } = await import(pathToFileURL(path).href);
try {
  buildApp(app);
  app.synth();
  const report: SynthesisReport = { read: [...loadedModules(), ...bundledFiles()] };
  process.send?.(report);
} catch (error) {
  // The bundler has reported what is wrong.
  if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error;
  process.exitCode = 1;
}

function bundledFiles(): readonly string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name, BUNDLED_FILES))
    .filter((file) => existsSync(file))
    .flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as readonly string[]);
}
