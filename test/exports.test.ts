import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../infra/app-context.ts';

const textOf = (file: string): string => readFileSync(join(PROJECT_ROOT, file), 'utf8');

/** Files whose exports are taken by others than imports: packages, Lambda, bundles, Vitest, and lists of paths. */
const TAKEN_OTHERWISE = [
  Object.values(JSON.parse(textOf('infra/package/entries.json')) as Readonly<Record<string, string>>),
  [
    'functions/*.ts',
    'functions/examples/*.ts',
    'functions/environment/connect/*.ts',
    'functions/triggers/loaded-trigger.ts',
  ],
  ['infra/stacks/bundled/*.ts', 'infra/examples/**/*.ts', 'test/console/*.ts'],
  ['test/infra/support/functions/*.ts', 'test/infra/support/app-with-route.ts', 'test/alarms/functions/*.ts'],
  [
    'test/faults/**/*-run.ts',
    'test/faults/**/*-cells.ts',
    'test/faults/without/*.ts',
    'test/faults/{growth/commit-line,stacks/proxied-app}.ts',
    'test/**/*.test.ts',
  ],
  ['test/functions/support/appending-consumer.ts', 'test/support/{servers,whole-stack,brief-reporter}.ts'],
  // Programs as text.
  ['infra/stacks/bundles.ts', 'test/infra/package/from-registry.ts'],
].flatMap((patterns) => globSync(patterns, { cwd: PROJECT_ROOT }));

const DECLARED = /^export (?:async |abstract )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gmu;
const LISTED = /^(?:import|export)(?: type)?(?: \w+,)? \{([^}]*)\} from '(\.[^']+)'/gmu;
const WHOLE = /(?:^(?:import|export) \*[^;]*? from |\bimport\()'(\.[^']+)'/gmu;

it('every export is imported by another file', () => {
  const files = globSync(['*.ts', '{shared,functions,infra,test}/**/*.ts'], { cwd: PROJECT_ROOT }).filter(
    (file) => !/node_modules|\/dist\/|\.d\.ts$/u.test(file),
  );
  const imported = new Set<string>();
  for (const file of files) {
    const text = textOf(file);
    const from = (path: string): string => join(dirname(file), path);
    for (const [, path = ''] of text.matchAll(WHOLE)) imported.add(from(path));
    for (const [, names = '', path = ''] of text.matchAll(LISTED))
      for (const [, name = ''] of names.matchAll(/(?:^|,)\s*(?:type )?(\w+)/gu)) imported.add(`${from(path)} ${name}`);
  }
  const unused = files
    .filter((file) => !TAKEN_OTHERWISE.includes(file) && !imported.has(file))
    .flatMap((file) => [...textOf(file).matchAll(DECLARED)].map(([, name = '']) => `${file} ${name}`))
    .filter((one) => !imported.has(one));
  expect(unused).toEqual([]);
});
