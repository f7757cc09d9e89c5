import { arrayOf, objectOf, orNull } from '../schema.ts';
import { OF_BODY, OF_DATASTORE, type Description } from './description.ts';

const COUNT = { type: 'integer', minimum: 0 } as const;
const DRY_RUN = { type: 'boolean', description: 'Nothing was changed.' } as const;
const KIND = { enum: ['datastore', 'index', 'trigger'] } as const;
const PART = {
  schema: objectOf({
    datastore: { type: 'string' },
    name: { type: 'string' },
    dry_run: DRY_RUN,
    lost: {
      ...orNull(objectOf({ messages: COUNT, parked: COUNT })),
      description: 'Of a trigger: what goes with it, about.',
    },
  }),
} as const;
const APPLIED = {
  means: 'All is made; with `dry_run`: it would be.',
  schema: objectOf({
    done: { type: 'boolean', description: 'False: there was not time enough for all. Repeat it.' },
    dry_run: DRY_RUN,
    changes: {
      ...arrayOf(
        objectOf(
          {
            kind: KIND,
            datastore: { type: 'string' },
            name: { type: 'string' },
            change: { enum: ['create', 'change', 'none'] },
            shards: { ...COUNT, description: 'Of a datastore: those that it gets here.' },
          },
          ['shards'],
        ),
      ),
      description: 'Of everything that the files define.',
    },
    warnings: {
      ...arrayOf(objectOf({ file: { type: 'string' }, line: COUNT, message: { type: 'string' } })),
      description: 'What can be done, and will be regretted.',
    },
  }),
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
const OF_DELETION = [...OF_DATASTORE, 'goes_by_deploy', 'missing_field', 'invalid_field', 'still_defined'] as const;

/** The routes by which datastores, indexes and triggers are made, and indexes and triggers deleted, without a deployment. */
export const DEFINITIONS = {
  applyDefinitions: {
    summary: 'Make datastores, indexes and triggers',
    more: 'What the files define and is not there is made, what may be changed is changed, what they do not name stays. All is judged first: where anything has a problem, or cannot be had, nothing is changed. An index of a datastore with cells is built while it runs. Where the environment says so; in others this goes by deploy.',
    query: ['dryRun'],
    request: {
      schema: objectOf({
        files: {
          type: 'object',
          additionalProperties: { type: ['string', 'object'] },
          minProperties: 1,
          description: 'The texts of the definitions, YAML or JSON, or what they say, by their paths.',
        },
      }),
      example: {
        files: {
          'shop/datastore.yaml': 'datastore: shop\nshards: 16\n',
          'shop/triggers/confirm_order.yaml': { trigger: 'confirm_order', datastore: 'shop', columns: ['ORDER'] },
        },
      },
    },
    answers: { 200: APPLIED, 202: { ...APPLIED, means: 'Not all is made yet: repeat it.' } },
    problems: [
      'unknown_field',
      'internal',
      'unavailable',
      ...OF_BODY,
      'goes_by_deploy',
      'invalid_definition',
      'fixed_definition',
    ],
  },
  deleteIndex: {
    summary: 'Delete an index for good',
    more: 'Queries by it are refused from then on; its tables are dropped some minutes later. One that the deployment defines is refused.',
    query: ['confirm', 'force', 'dryRun'],
    answers: {
      200: {
        ...PART,
        means: 'It is deleted; with `dry_run`: it would be.',
        example: { datastore: 'shop', name: 'buyer_index', dry_run: false, lost: null },
      },
    },
    problems: [...OF_DELETION, 'unknown_index'],
  },
  deleteTrigger: {
    summary: 'Delete a trigger for good',
    more: 'With its queues, its offsets and its parked cells. One that the deployment defines is refused, and one with waiting or parked cells unless `force`.',
    query: ['confirm', 'force', 'dryRun'],
    answers: {
      200: {
        ...PART,
        means: 'It is deleted; with `dry_run`: it would be.',
        example: { datastore: 'shop', name: 'confirm_order', dry_run: false, lost: { messages: 0, parked: 0 } },
      },
    },
    problems: [...OF_DELETION, 'unknown_trigger', 'would_lose'],
  },
} as const satisfies Record<string, Description>;
