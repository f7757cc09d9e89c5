import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedStack, Template } from './template.ts';

interface Artifact {
  readonly type: string;
  readonly properties?: { readonly templateFile?: string; readonly stackName?: string };
}

/** Returns the stacks of a synthesized app in the manifest's order: dependencies come first. */
export function loadAssembly(folder: string): readonly LoadedStack[] {
  const { artifacts = {} }: { readonly artifacts?: Readonly<Record<string, Artifact>> } = JSON.parse(
    readFileSync(join(folder, 'manifest.json'), 'utf8'),
  );
  return Object.entries(artifacts).flatMap(([id, { type, properties }]) => {
    if (type !== 'aws:cloudformation:stack' || properties?.templateFile === undefined) return [];
    const template: Template = JSON.parse(readFileSync(join(folder, properties.templateFile), 'utf8'));
    return [{ name: properties.stackName ?? id, template, folder }];
  });
}
