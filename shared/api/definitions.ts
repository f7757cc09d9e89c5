import { stringifyJson } from '../body/json.ts';
import { isObject } from '../cell.ts';
import { invalidField, missingField } from '../errors.ts';
import { members } from './input.ts';
import { operations } from './operation.ts';
import { flag, required, textParameter, type RequiredParameter } from './parameter.ts';
import { DRY_RUN } from './query.ts';
import { COUNT, FLAG, list, object, oneOf, optional, orNull, described, TEXT, type Input, type Of } from './shape.ts';

/**
 * Operations that create datastores, indexes and triggers, and delete indexes and triggers, without a deployment, if
 * the environment allows it. Everything may be repeated, which completes an interrupted request.
 */

/** More than any intended folder has. */
const MOST_FILES = 1000;
const PATH = '^[a-z0-9_]+/(?:datastore\\.yaml|(?:indexes|triggers)/[a-z0-9_]+\\.yaml)$';
const FITS = new RegExp(PATH, 'u');
const WANTED = `an object of 1 to ${MOST_FILES} definitions by path, as {"shop/datastore.yaml": "datastore: shop\\nshards: 16"}`;

/** Definitions by path: texts of YAML or JSON, or parsed objects. */
type DefinitionFiles = Readonly<Record<string, string | object>>;

const FILES: Input<DefinitionFiles> = {
  describe: () => ({
    type: 'object',
    additionalProperties: { type: ['string', 'object', 'array'] },
    propertyNames: { pattern: PATH },
    minProperties: 1,
    maxProperties: MOST_FILES,
    description: 'The definitions by path: texts of YAML or JSON, or parsed objects.',
  }),
  read(files, field) {
    if (files === undefined) throw missingField(field, WANTED);
    if (!isObject(files)) throw invalidField(field, WANTED, files);
    const entries = Object.entries(files);
    if (entries.length === 0 || entries.length > MOST_FILES) throw invalidField(field, WANTED, entries.length);
    return Object.fromEntries(
      entries.map(([path, text]): [string, string] => {
        if (!FITS.test(path))
          throw invalidField(
            field,
            'paths as shop/datastore.yaml, shop/indexes/NAME.yaml, shop/triggers/NAME.yaml',
            path,
          );
        const isText = typeof text === 'string';
        if (!isText && (typeof text !== 'object' || text === null))
          throw invalidField(`${field}.${path}`, 'the text of a definition, or an object', text);
        // JSON is YAML.
        return [path, isText ? text : stringifyJson(text)];
      }),
    );
  },
};

const NOT_CHANGED = described(FLAG, 'Nothing was changed.');
const KIND = oneOf('datastore', 'index', 'trigger');
export type DefinitionKind = Of<typeof KIND>;

const CHANGE = object({
  kind: KIND,
  datastore: TEXT,
  name: TEXT,
  change: oneOf('create', 'change', 'none'),
  shards: described(optional(COUNT), 'Of a datastore: the number that it gets here.'),
});
export type AppliedChange = Of<typeof CHANGE>;

const OUTCOME = object({
  done: described(FLAG, 'False: time ran out before all was done. Repeat the request.'),
  dry_run: NOT_CHANGED,
  changes: described(list(CHANGE), 'For everything that the files define.'),
  warnings: described(
    list(object({ file: TEXT, line: COUNT, message: TEXT })),
    'Definitions that are allowed but inadvisable.',
  ),
});
export type AppliedOutcome = Of<typeof OUTCOME>;

const APPLIED = {
  means: 'Everything is created; with `dry_run`: it would be.',
  body: OUTCOME,
  example: {
    done: true,
    dry_run: false,
    changes: [
      { kind: 'datastore', datastore: 'shop', name: 'shop', change: 'create', shards: 16 },
      { kind: 'trigger', datastore: 'shop', name: 'confirm_order', change: 'create' },
    ],
    warnings: [],
  },
} as const;

/** The contents that are lost with a trigger, approximately, as SQS counts. */
const CONTENTS = object({ messages: COUNT, parked: COUNT });
export type TriggerContents = Of<typeof CONTENTS>;

const DELETED = object({
  datastore: TEXT,
  name: TEXT,
  dry_run: NOT_CHANGED,
  lost: described(orNull(CONTENTS), 'Of a trigger: its lost contents, approximately.'),
});
export type DeletedPart = Of<typeof DELETED>;

const CONFIRM: RequiredParameter<string> = required(
  textParameter(TEXT, { description: 'The name in the path again, as confirmation.', example: 'shop' }),
  'the name in the path again, as confirmation',
);

const DELETION = {
  confirm: CONFIRM,
  force: flag('Delete it even if data is lost with it.'),
  ...DRY_RUN,
};
export interface DeleteOptions {
  readonly confirm: string;
  readonly force?: boolean | undefined;
  readonly dry_run?: boolean | undefined;
}

const OF_DEFINITIONS = { handler: 'define-datastores', mayCall: [] } as const;
const OF_DELETION = ['managed_by_deployment', 'missing_field', 'still_defined'] as const;
const DELETE = { ...OF_DEFINITIONS, method: 'DELETE', query: DELETION, refusesUndefined: true } as const;

export const DEFINITIONS = operations({
  applyDefinitions: {
    ...OF_DEFINITIONS,
    method: 'POST',
    path: '/v1/definitions/apply',
    summary: 'Create datastores, indexes and triggers',
    more: 'Creates definitions that do not exist, and applies allowed changes to the others; anything that the files do not name stays. Everything is checked first: if anything has a problem or is unavailable, nothing changes. An index of a datastore with cells is built while the datastore runs. Environments that do not allow this take definitions from deployments.',
    query: DRY_RUN,
    body: members({ files: FILES }),
    bodyExample: {
      files: {
        'shop/datastore.yaml': 'datastore: shop\nshards: 16\n',
        'shop/triggers/confirm_order.yaml': { trigger: 'confirm_order', datastore: 'shop', columns: ['ORDER'] },
      },
    },
    answers: {
      200: APPLIED,
      202: {
        ...APPLIED,
        means: 'Not everything is created yet: repeat the request.',
        when: ({ done, dry_run }: AppliedOutcome) => !done && !dry_run,
      },
    },
    errors: ['unavailable', 'managed_by_deployment', 'invalid_definition', 'fixed_definition'],
  },
  deleteIndex: {
    ...DELETE,
    path: '/v1/{datastore}/indexes/{index}',
    summary: 'Delete an index for good',
    more: 'Queries on it are refused from then on; its tables are dropped some minutes later. An index that the deployment defines is refused.',
    answers: {
      200: {
        means: 'It is deleted; with `dry_run`: it would be.',
        body: DELETED,
        example: { datastore: 'shop', name: 'buyer_index', dry_run: false, lost: null },
      },
    },
    errors: OF_DELETION,
  },
  deleteTrigger: {
    ...DELETE,
    path: '/v1/{datastore}/triggers/{trigger}',
    summary: 'Delete a trigger for good',
    more: 'Deletes its queues, offsets and parked cells. A trigger that the deployment defines is refused, and one with waiting or parked cells unless `force`.',
    answers: {
      200: {
        means: 'It is deleted; with `dry_run`: it would be.',
        body: DELETED,
        example: { datastore: 'shop', name: 'confirm_order', dry_run: false, lost: { messages: 0, parked: 0 } },
      },
    },
    errors: [...OF_DELETION, 'would_discard_data'],
  },
});
