import type { ErrorCode } from './errors.ts';

interface ErrorText {
  /** The meaning, in one line. */
  readonly title: string;
  /** The action for the caller, in one line. */
  readonly fix: string;
}

/** The meaning and fix of each error, for documents, answers and messages. */
export const ERROR_TEXTS: Readonly<Record<ErrorCode, ErrorText>> = {
  invalid_json: {
    title: 'The request body is not JSON that the store can keep',
    fix: 'Fix the JSON at the position that `detail` names',
  },
  invalid_field: {
    title: 'A field or parameter has an invalid value',
    fix: 'Send what `wanted` says in `field`',
  },
  invalid_body: {
    title: 'The body does not fit its column (raised by the client, which sent nothing)',
    fix: 'Fix the body at `field`',
  },
  unknown_field: {
    title: 'This route does not know the field or parameter',
    fix: 'Leave it out, or correct its name',
  },
  missing_field: {
    title: 'A required field or parameter is missing',
    fix: 'Send it',
  },
  unknown_route: {
    title: 'No such path',
    fix: 'Use a route of `GET /v1/openapi.json`',
  },
  method_not_allowed: {
    title: 'The path has no such method',
    fix: 'Use a method of the header `allow`',
  },
  unknown_datastore: {
    title: 'No datastore has this name',
    fix: 'Use another name, or define it',
  },
  unknown_shard: {
    title: 'The datastore has no such shard',
    fix: 'Use 0 to the shard count less 1',
  },
  unknown_index: {
    title: 'The datastore has no such index',
    fix: 'Use another name, or define it',
  },
  unknown_trigger: {
    title: 'The datastore has no such trigger',
    fix: 'Use another name, or define it',
  },
  unknown_move: {
    title: 'The shard has no move',
    fix: 'Begin a move, or name another shard',
  },
  move_refused: {
    title: 'The move does not allow this at its present step',
    fix: 'Read the move: `step` says what it allows',
  },
  denied: {
    title: 'The gateway refused a missing or invalid signature (raised by the client)',
    fix: 'Sign with valid credentials that may call this API',
  },
  managed_by_deployment: {
    title: 'Only deployments change definitions in this environment',
    fix: 'Change the definitions, and deploy them',
  },
  invalid_definition: {
    title: 'The definitions have problems, see `problems`; nothing changed',
    fix: 'Fix each at its file and line',
  },
  fixed_definition: {
    title: 'A running store cannot make this change, see `problems`; nothing changed',
    fix: 'Do as each `reason` says',
  },
  still_defined: {
    title: 'The deployment still defines it',
    fix: 'Remove the definition, deploy, then delete it',
  },
  would_discard_data: {
    title: 'The deletion would discard what `lost` counts; nothing changed',
    fix: 'Check `lost`; `force=true` deletes it all',
  },
  cell_not_found: {
    title: 'No cell is at this address',
    fix: 'If `stale` is true, read from the writer',
  },
  conflict: {
    title: 'Another body is at this address; cells never change',
    fix: 'Read the cell, then write a higher ref key',
  },
  condition_failed: {
    title: 'A condition of the transaction does not hold',
    fix: 'Read `failed`, and begin again from the latest cells',
  },
  erased: {
    title: 'The address is erased, hidden by a retention rule, or closed to new cells',
    fix: 'Erasure is final: see `reason` and `erasure`, or `rule` if `why` is `retention`',
  },
  subject_forgotten: {
    title: 'The cell has fields sealed for a forgotten subject; nothing changed',
    fix: 'Leave them out, or name another subject in `field`',
  },
  unknown_erasure: {
    title: 'No erasure record has this id',
    fix: 'Use an id of the list of erasures',
  },
  body_too_large: {
    title: "The cell's body exceeds its limit",
    fix: 'Split the value over columns or ref keys',
  },
  request_too_large: {
    title: 'The request exceeds its limit',
    fix: 'Send fewer cells per request',
  },
  unsupported_encoding: {
    title: 'The request body has a content encoding',
    fix: 'Send it uncompressed',
  },
  answer_too_large: {
    title: 'The item does not fit into this response',
    fix: 'Ask for it alone, or in a smaller batch',
  },
  no_root_key: {
    title: 'The environment has no root key to seal, open or sign with',
    fix: 'Deploy it with `sealsFields: true`',
  },
  undecodable_body: {
    title: 'The stored body cannot be decoded',
    fix: 'Inspect the cell at `address`: its bytes are damaged',
  },
  index_building: {
    title: 'The index definition that can answer this is being built',
    fix: 'Retry when `progress` is complete',
  },
  internal: {
    title: 'An unexpected error',
    fix: 'Retry, and report it with the request id',
  },
  overloaded: {
    title: "The row's group has too many requests; this one was not begun",
    fix: 'Retry after `Retry-After` seconds, with fewer at once',
  },
  unavailable: {
    title: 'Not confirmed: no node answered in time',
    fix: 'Retry after `Retry-After` seconds',
  },
};
