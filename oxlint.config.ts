import { CORE_ENTRIES, INFRA_ROOMS, ROOMS, type Room } from './infra/docs/rooms.ts';

interface Forbidden {
  readonly group: readonly string[];
  readonly message: string;
}

const restricted = (patterns: readonly Forbidden[]): object => ({ 'no-restricted-imports': ['error', { patterns }] });

/** Zod and the parser of YAML would be a good part of what a function loads at its start. */
const CHECKS_OF_YAML: Forbidden = {
  group: ['**/definitions/*', '!**/definitions/definitions.ts', '!**/definitions/field-value.ts'],
  message: 'Functions get definitions that were checked: what checks them is for infra and test.',
};

const FUNCTIONS_KNOW_SHARED: Forbidden = {
  group: ['**/infra/**', '**/test/**', 'aws-cdk-lib', 'aws-cdk-lib/**', 'constructs'],
  message: 'functions know shared alone.',
};

const OUTSIDE_OF_SHARED: readonly Forbidden[] = [
  CHECKS_OF_YAML,
  {
    group: ['**/functions/**', '**/infra/**', '**/test/**', '#*'],
    message: 'shared knows neither functions, infra nor test: they know it.',
  },
  {
    group: ['aws-cdk-lib', 'aws-cdk-lib/**', 'constructs', 'aws-lambda', '@middy/**', '@aws-lambda-powertools/**'],
    message: 'shared knows no Lambda, HTTP server or CDK.',
  },
];

/**
 * Forbids each room the rooms above it. The rule listed last of two that fit a file holds, so that inner rooms come
 * behind outer ones.
 */
function orderOf(root: string, rooms: readonly Room[], others: (path: string) => readonly Forbidden[]): object[] {
  const rules = rooms.map(({ path }, position) => {
    // A room may lie in another one: what is above begins with its own name, however it is reached.
    const above = rooms
      .slice(position + 1)
      .flatMap((room) =>
        room.path.endsWith('.ts') ? `**/${room.path}` : [`**/${room.path}/**`, `**/${room.path.split('/').at(-1)}/**`],
      );
    const message = `${root}/${path} may import only what stands before it in infra/docs/rooms.ts.`;
    return {
      files: [path === '' ? `${root}/*.ts` : path.endsWith('.ts') ? `${root}/${path}` : `${root}/${path}/**`],
      rules: restricted([...others(path), ...(above.length > 0 ? [{ group: [...new Set(above)], message }] : [])]),
    };
  });
  return rules.toSorted(
    (one, other) => (one.files[0] ?? '').split('/').length - (other.files[0] ?? '').split('/').length,
  );
}

const INFRA_KNOWS: readonly Forbidden[] = [
  {
    group: ['**/functions/**', '**/test/**'],
    message: 'infra names functions by path, it does not load them; and it knows no test.',
  },
];

const CORE_BY_ENTRIES: Forbidden = {
  group: ['**/shared/**', ...CORE_ENTRIES.map((path) => `!**/shared/${path}`)],
  message: 'The local stack, the command line and the console know the core by CORE_ENTRIES of infra/docs/rooms.ts.',
};

function othersInInfra(path: string): readonly Forbidden[] {
  if (path === 'constructs')
    return [
      {
        group: ['../**', '!../../shared/**', 'esbuild', 'cdk-nag'],
        message: 'The constructs of the package know shared alone, and bundle nothing.',
      },
    ];
  return /^(?:local|cli|console)/u.test(path) ? [...INFRA_KNOWS, CORE_BY_ENTRIES] : INFRA_KNOWS;
}

/** Folders that run the store to judge it; they share only `test/support`. */
const STAGES = ['alarms', 'bench', 'demo', 'faults', 'first-day', 'smoke'];
const orderOfTest = [...STAGES, 'support'].map((one) => ({
  files: [`test/${one}/**`],
  rules: restricted([
    {
      group: STAGES.filter((other) => other !== one).map((other) => `**/${other}/**`),
      message: 'Code for several of alarms, bench, demo, faults, first-day and smoke lies in test/support.',
    },
  ]),
}));

export default {
  plugins: ['typescript', 'unicorn', 'import', 'oxc', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  ignorePatterns: ['node_modules', 'cdk.out', '.local'],
  rules: {
    eqeqeq: ['error', 'always'],
    'no-console': 'error',
    'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
    'max-params': ['error', { max: 5 }],
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-duplicates': ['error', { 'prefer-inline': true }],
    'import/no-unassigned-import': 'off',
    'no-await-in-loop': 'off',
    'no-underscore-dangle': 'off',
    'no-shadow': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'promise/always-return': 'off',
    'vitest/no-conditional-tests': 'off',
    'vitest/require-mock-type-parameters': 'off',
    'import/no-named-as-default-member': 'off',
    'vitest/no-conditional-expect': 'off',
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
  },
  overrides: [
    { files: ['shared/**'], rules: restricted(OUTSIDE_OF_SHARED) },
    ...orderOf('shared', ROOMS, () => OUTSIDE_OF_SHARED),
    {
      files: ['functions/**'],
      rules: restricted([CHECKS_OF_YAML, FUNCTIONS_KNOW_SHARED]),
    },
    {
      // The one that is sent definitions, and judges them.
      files: ['functions/http/operations/apply-definitions.ts'],
      rules: restricted([FUNCTIONS_KNOW_SHARED]),
    },
    { files: ['infra/**'], rules: restricted(INFRA_KNOWS) },
    ...orderOf('infra', INFRA_ROOMS, othersInInfra),
    ...orderOfTest,
    {
      files: ['infra/setup/**', 'infra/local/**', 'infra/examples/**', 'test/**'],
      rules: { 'no-console': 'off', 'max-lines-per-function': 'off' },
    },
  ],
};
