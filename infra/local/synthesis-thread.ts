/** Runs in a thread of its own: synthesizes an app as the CDK's command line would, with the settings of cdk.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';
import { App } from 'aws-cdk-lib';
import { PROJECT_ROOT } from '../app-context.ts';
import type { SynthesisOrder } from './synthesize.ts';

const { app: path, context, folder }: SynthesisOrder = workerData;
const settings: { readonly context?: object } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
const app = new App({ outdir: folder, context: { ...settings.context, ...context }, analyticsReporting: false, treeMetadata: false });
const { buildApp }: { readonly buildApp: (app: App) => unknown } = await import(pathToFileURL(path).href);
buildApp(app);
app.synth();
