import type { ErrorCode } from './errors.ts';

interface ErrorText {
  /** What it means, one line. */
  readonly title: string;
  /** What the caller can do about it, one line. */
  readonly cure: string;
}

/** What each error means, for documents, answers, and whoever is told of one. */
export const ERROR_TEXTS: Readonly<Record<ErrorCode, ErrorText>> = {
  invalid_json: {
    title: 'The request body is not JSON that can be kept',
    cure: 'Mend the JSON at the place that the detail names',
  },
  invalid_field: {
    title: 'A field or parameter has a value that cannot be used',
    cure: 'Send what `wanted` says in the field that `field` names',
  },
  invalid_body: {
    title: 'The body does not fit what the program declared of its column; the client says it, and sends nothing',
    cure: 'Mend the body at the place that `field` names',
  },
  unknown_field: {
    title: 'A field or query parameter that this route does not know',
    cure: 'Leave it out, or correct its name',
  },
  missing_field: {
    title: 'A field or parameter that this route needs is not there',
    cure: 'Send it',
  },
  unknown_route: {
    title: 'No such path',
    cure: 'See `GET /v1/openapi.json` for the routes',
  },
  unknown_datastore: {
    title: 'No datastore of this name',
    cure: 'Use one that is defined, or define and deploy it',
  },
  unknown_shard: {
    title: 'The datastore has no shard of this number',
    cure: 'Use 0 to the number of shards less one',
  },
  unknown_index: {
    title: 'The datastore has no index of this name',
    cure: 'Use one that is defined, or define and deploy it',
  },
  unknown_trigger: {
    title: 'The datastore has no trigger of this name',
    cure: 'Use one that is defined, or define and deploy it',
  },
  unknown_move: {
    title: 'The shard is not being moved, and was not',
    cure: 'Begin a move of it, or name another shard',
  },
  move_refused: {
    title: 'The move cannot do this at the step at which it is',
    cure: 'Look at the move: its step says what it can do',
  },
  denied: {
    title: 'The gateway lets in nobody with this signature, or without one; the client says it',
    cure: 'Sign the request with credentials that are valid and may call this API',
  },
  goes_by_deploy: {
    title: 'In this environment definitions are made and deleted by deployments alone',
    cure: 'Change the definitions, and deploy them',
  },
  invalid_definition: {
    title: 'The definitions have problems, which `problems` lists; nothing was changed',
    cure: 'Mend each at the file and line that it names',
  },
  fixed_definition: {
    title:
      'The definitions wish something that cannot be had while the store runs, see `problems`; nothing was changed',
    cure: 'Leave it as it is, make another one, or deploy it, as each `reason` says',
  },
  still_defined: {
    title: 'The deployment still defines what is to be deleted',
    cure: 'Remove its definition, deploy, and delete it then',
  },
  would_lose: {
    title: 'Something would be lost with it, see `lost`; nothing was changed',
    cure: 'Look at it; `force=true` deletes it with all that it has',
  },
  cell_not_found: {
    title: 'No cell is at this address',
    cure: 'With `stale: true` it may be there: ask again, of the writer',
  },
  conflict: {
    title: 'Another body is at this address; cells never change',
    cure: 'Read the cell, then write a higher ref key',
  },
  erased: {
    title:
      'What was at this address was erased for good, is hidden by a rule of retention, or may not come there any more',
    cure: 'Nothing brings back what was erased: `reason` says why, and `erasure` which record says more. With `why: retention` it is `rule` that hides it',
  },
  subject_forgotten: {
    title:
      'The cell names a subject that was forgotten for good, and has fields sealed under its key; nothing was changed',
    cure: 'Leave out what is sealed, or name another subject in the field that `field` names',
  },
  unknown_erasure: {
    title: 'The datastore has no record of an erasure with this id',
    cure: 'Use an id that an erasure was answered with, or that the list has',
  },
  body_too_large: {
    title: "The cell's body is over its limit",
    cure: 'Split the value over several columns or ref keys',
  },
  request_too_large: {
    title: 'The request is over its limit',
    cure: 'Send fewer cells a request',
  },
  answer_too_large: {
    title: 'The item does not fit into this answer',
    cure: 'Ask for it alone, or in a smaller batch',
  },
  no_root_key: {
    title: 'The environment has no root key, without which nothing is sealed, opened or signed',
    cure: 'Deploy it with `sealsFields: true`; no repetition helps before',
  },
  undecodable_body: {
    title: 'The stored body of this cell cannot be decoded',
    cure: 'Look at the cell at the address given: its bytes were damaged',
  },
  index_building: {
    title: 'The index, or the definition of it that can answer this, is being built',
    cure: 'Repeat it once the build is complete; `progress` says how far it is',
  },
  internal: {
    title: 'An error that should not happen',
    cure: 'Repeat it; report it with the request id',
  },
  overloaded: {
    title: 'More requests at once than the group of this row can serve',
    cure: 'Repeat it after `Retry-After` seconds, and send fewer at once: nothing was begun',
  },
  unavailable: {
    title: 'Not confirmed: no node that could answer was reached in time',
    cure: 'Repeat it after `Retry-After` seconds: every request can be repeated safely',
  },
};
