import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { type AppContext, PROJECT_ROOT, readAppContext } from '../app-context.ts';
import { buildApp } from '../app.ts';
import type { Needs } from '../../shared/preflight/needs.ts';

/** Throws an Error that names the context's key, or the app's own. */
export function needsOf(context: AppContext): Needs {
  // Refuses a context before the CDK reads it.
  readAppContext(context);
  const folder = mkdtempSync(join(tmpdir(), 'schemaless-preflight-'));
  try {
    return synthesizedNeeds(context, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The CDK's name for an unspecified account or region. */
const NOT_NAMED = /^unknown-/u;

function synthesizedNeeds(context: AppContext, folder: string): Needs {
  const settings: { readonly context?: object } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
  const app = new App({
    outdir: folder,
    context: { ...settings.context, ...context },
    // CloudFormation's rules take most of the time, and matter for deployments.
    builtinCloudFormationValidation: false,
    analyticsReporting: false,
    treeMetadata: false,
  });
  buildApp(app);
  const { stacks } = app.synth();
  return {
    stacks: stacks.map((stack) => {
      const { account, region } = stack.environment;
      const [parameter, version] = [stack.bootstrapStackVersionSsmParameter, stack.requiresBootstrapStackVersion];
      return {
        name: stack.stackName,
        ...(!NOT_NAMED.test(account) && { account }),
        ...(!NOT_NAMED.test(region) && { region }),
        ...(parameter !== undefined && version !== undefined && { bootstrap: { parameter, version } }),
      };
    }),
    resources: stacks.flatMap(({ stackName, template }) => {
      const { Resources = {} } = template as { readonly Resources?: Readonly<Record<string, TemplateResource>> };
      return Object.values(Resources).map(({ Type, Properties = {} }) => ({
        type: Type,
        stack: stackName,
        properties: Properties,
      }));
    }),
  };
}

interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
