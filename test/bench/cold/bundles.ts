import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { buildApp } from '../../../infra/app.ts';
import type { EnvironmentName } from '../../../infra/environments.ts';
import { loadAssembly } from '../../../infra/local/template/synthesize.ts';

export function deployedBundles(folder: string, environment: EnvironmentName): ReadonlyMap<string, string> {
  const outdir = join(folder, `cdk.out-${environment}`);
  mkdirSync(outdir, { recursive: true });
  const app = new App({ outdir, context: { environment, 'aws:cdk:enable-asset-metadata': true } });
  buildApp(app);
  app.synth();
  const functions = loadAssembly(outdir)
    .flatMap(({ template }) => Object.values(template.Resources))
    .filter(
      ({ Type, Properties }) =>
        Type === 'AWS::Lambda::Function' && String(Properties?.['Description']).startsWith('Schemaless: '),
    );
  return new Map(
    functions.map(({ Properties, Metadata }): [string, string] => [
      String(Properties?.['Description']).replace('Schemaless: ', `${environment}: `),
      join(outdir, String(Metadata?.['aws:asset:path']), 'index.mjs'),
    ]),
  );
}
