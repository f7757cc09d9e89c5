import type { Role } from '../cell.ts';
import { operations } from './operation.ts';
import { list, named, object, oneOf, optional, described, shape, TEXT, type Of } from './shape.ts';

const UP = { state: 'up', served_by: 'writer', milliseconds: 1, circuit: 'closed' } as const;
const DOWN = {
  state: 'down',
  served_by: 'reader',
  milliseconds: 1000,
  circuit: 'open',
  error: 'connect timeout',
} as const;

const NODE = named(
  'NodeHealth',
  object({
    state: oneOf('up', 'down'),
    served_by: described(
      oneOf<Role>('writer', 'reader'),
      'The role that answers for this one: the writer if readers cannot be reached.',
    ),
    milliseconds: shape<number>({ type: 'number' }),
    circuit: described(
      oneOf('closed', 'open'),
      "Of the instance's circuit breaker: `open` while it sends only health checks there.",
    ),
    error: optional(TEXT),
  }),
);
export type NodeHealth = Of<typeof NODE>;

const GROUP = object({ group: TEXT, writer: NODE, reader: NODE });
/** Health of one group as the answering instance sees it. */
export type GroupHealth = Of<typeof GROUP>;

const HEALTH = named(
  'Health',
  object({
    status: described(oneOf('ok', 'degraded', 'down'), '`ok`: every node answers. `down`: none does.'),
    version: described(TEXT, 'The version of the store.'),
    instance: described(TEXT, 'The instance that answered; each checks on its own.'),
    groups: list(GROUP),
  }),
);

type Health = Of<typeof HEALTH>;

export const SERVICE = operations({
  getHealth: {
    method: 'GET',
    path: '/v1/health',
    handler: 'read-cells',
    mayCall: ['readers', 'movers'],
    summary: 'See which nodes answer',
    answers: {
      200: {
        means: 'At least one node answers.',
        body: HEALTH,
        example: {
          status: 'degraded',
          version: '0.1.0',
          instance: 'b7c9',
          groups: [{ group: 'group-1', writer: DOWN, reader: UP }],
        },
      },
      503: {
        means: 'No node answers.',
        body: HEALTH,
        when: ({ status }: Health) => status === 'down',
        example: {
          status: 'down',
          version: '0.1.0',
          instance: 'b7c9',
          groups: [{ group: 'group-1', writer: DOWN, reader: DOWN }],
        },
      },
    },
    errors: ['unavailable'],
  },
  getOpenApi: {
    method: 'GET',
    path: '/v1/openapi.json',
    handler: 'read-cells',
    mayCall: ['readers'],
    summary: 'This document',
    more: 'Compressed if `accept-encoding` names `gzip`.',
    answers: { 200: { means: 'OpenAPI 3.1.', body: shape<object>({ type: 'object' }), example: { openapi: '3.1.0' } } },
  },
});
