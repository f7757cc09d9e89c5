import { stringifyJson } from '../body/json.ts';
import type { Json } from '../cell.ts';
import { invalidField, missingField } from '../errors.ts';
import { members } from './input.ts';
import { operations } from './operation.ts';
import { flag, required, textParameter, type RequiredParameter } from './parameter.ts';
import { DRY_RUN } from './query.ts';
import { COUNT, FLAG, list, object, oneOf, optional, orNull, said, TEXT, type Input, type Of } from './shape.ts';

/**
 * How datastores, indexes and triggers are made, and indexes and triggers deleted, without a deployment, where the
 * environment says so. Everything may be repeated; what was cut off is finished by that.
 */

/** More than any folder that is meant has. */
const MOST_FILES = 1000;
const PATH = '^[a-z0-9_]+/(?:datastore\\.yaml|(?:indexes|triggers)/[a-z0-9_]+\\.yaml)$';
const FITS = new RegExp(PATH, 'u');
const WANTED = `an object of 1 to ${MOST_FILES} definitions by path, as {"shop/datastore.yaml": "datastore: shop\\nshards: 16"}`;

/** Texts of YAML or JSON, or what they say, by path. */
type DefinitionFiles = Readonly<Record<string, string | object>>;

const FILES: Input<DefinitionFiles> = {
  describe: () => ({
    type: 'object',
    additionalProperties: { type: ['string', 'object', 'array'] },
    propertyNames: { pattern: PATH },
    minProperties: 1,
    maxProperties: MOST_FILES,
    description: 'The texts of the definitions, YAML or JSON, or what they say, by their paths.',
  }),
  read(files, field) {
    if (files === undefined) throw missingField(field, WANTED);
    if (typeof files !== 'object' || files === null || Array.isArray(files)) throw invalidField(field, WANTED, files);
    const entries: readonly [string, Json][] = Object.entries(files);
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
        // What came as JSON is YAML, too.
        return [path, isText ? text : stringifyJson(text)];
      }),
    );
  },
};

const NOT_CHANGED = said(FLAG, 'Nothing was changed.');
const KIND = oneOf('datastore', 'index', 'trigger');
export type DefinitionKind = Of<typeof KIND>;

const CHANGE = object({
  kind: KIND,
  datastore: TEXT,
  name: TEXT,
  change: oneOf('create', 'change', 'none'),
  shards: said(optional(COUNT), 'Of a datastore: those that it gets here.'),
});
export type AppliedChange = Of<typeof CHANGE>;

const OUTCOME = object({
  done: said(FLAG, 'False: there was not time enough for all. Repeat it.'),
  dry_run: NOT_CHANGED,
  changes: said(list(CHANGE), 'Of everything that the files define.'),
  warnings: said(list(object({ file: TEXT, line: COUNT, message: TEXT })), 'What can be done, and will be regretted.'),
});
export type AppliedOutcome = Of<typeof OUTCOME>;

const APPLIED = {
  means: 'All is made; with `dry_run`: it would be.',
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

/** What a trigger has, and is lost with it: about, as SQS counts. */
const CONTENTS = object({ messages: COUNT, parked: COUNT });
export type TriggerContents = Of<typeof CONTENTS>;

const DELETED = object({
  datastore: TEXT,
  name: TEXT,
  dry_run: NOT_CHANGED,
  lost: said(orNull(CONTENTS), 'Of a trigger: what goes with it, about.'),
});
export type DeletedPart = Of<typeof DELETED>;

const CONFIRM: RequiredParameter<string> = required(
  textParameter(TEXT, { description: 'The name of what is deleted, once more.', example: 'shop' }),
  'the name of what is deleted, once more',
);

const DELETION = {
  confirm: CONFIRM,
  force: flag('Delete it also where something is lost with it.'),
  ...DRY_RUN,
};
export interface DeleteOptions {
  readonly confirm: string;
  readonly force?: boolean | undefined;
  readonly dry_run?: boolean | undefined;
}

const OF_DEFINITIONS = { handler: 'define-datastores', mayCall: [] } as const;
const OF_DELETION = ['goes_by_deploy', 'missing_field', 'still_defined'] as const;

export const DEFINITIONS = operations({
  applyDefinitions: {
    ...OF_DEFINITIONS,
    method: 'POST',
    path: '/v1/definitions/apply',
    summary: 'Make datastores, indexes and triggers',
    more: 'What the files define and is not there is made, what may be changed is changed, what they do not name stays. All is judged first: where anything has a problem, or cannot be had, nothing is changed. An index of a datastore with cells is built while it runs. Where the environment says so; in others this goes by deploy.',
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
        means: 'Not all is made yet: repeat it.',
        when: ({ done, dry_run }: AppliedOutcome) => !done && !dry_run,
      },
    },
    errors: ['unavailable', 'goes_by_deploy', 'invalid_definition', 'fixed_definition'],
  },
  deleteIndex: {
    ...OF_DEFINITIONS,
    method: 'DELETE',
    path: '/v1/{datastore}/indexes/{index}',
    summary: 'Delete an index for good',
    more: 'Queries by it are refused from then on; its tables are dropped some minutes later. One that the deployment defines is refused.',
    query: DELETION,
    refusesUndefined: true,
    answers: {
      200: {
        means: 'It is deleted; with `dry_run`: it would be.',
        body: DELETED,
        example: { datastore: 'shop', name: 'buyer_index', dry_run: false, lost: null },
      },
    },
    errors: [...OF_DELETION, 'unknown_index'],
  },
  deleteTrigger: {
    ...OF_DEFINITIONS,
    method: 'DELETE',
    path: '/v1/{datastore}/triggers/{trigger}',
    summary: 'Delete a trigger for good',
    more: 'With its queues, its offsets and its parked cells. One that the deployment defines is refused, and one with waiting or parked cells unless `force`.',
    query: DELETION,
    refusesUndefined: true,
    answers: {
      200: {
        means: 'It is deleted; with `dry_run`: it would be.',
        body: DELETED,
        example: { datastore: 'shop', name: 'confirm_order', dry_run: false, lost: { messages: 0, parked: 0 } },
      },
    },
    errors: [...OF_DELETION, 'unknown_trigger', 'would_lose'],
  },
});
