import * as z from 'zod';
import { FIELD_TYPES } from '../../shared/definitions/definitions.ts';
import { ofMadeUsers } from '../../shared/topology/database-users.ts';
import type { MigrationWish } from '../../shared/migrate/check-wish.ts';

const endpoint = z.object({ host: z.string().min(1), port: z.coerce.number().int().min(1).max(65_535) });

const sealed = z.object({
  column: z.string().min(1),
  subject: z.string().min(1),
  fields: z.array(z.string().min(1)).min(1),
});

const index = z.object({
  name: z.string().min(1),
  fields: z
    .array(
      z.object({
        field: z.string().min(1),
        type: z.enum(FIELD_TYPES),
        column_key: z.string().min(1),
        sealed: z.literal(true).exactOptional(),
      }),
    )
    .min(1),
  keys: z.array(z.array(z.string().min(1))),
});

const retention = z.array(
  z.object({
    column: z.string().min(1),
    keepVersions: z.number().int().min(1).exactOptional(),
    keepForMs: z.number().int().min(1).exactOptional(),
  }),
);

const trigger = z.object({
  definition: z.object({
    name: z.string().min(1),
    columns: z.array(z.string().min(1)).min(1).exactOptional(),
    function: z.string().min(1).exactOptional(),
    start: z.union([z.literal(['start', 'now']), z.object({ since: z.string().min(1) })]),
    maxAttempts: z.number().int().min(1),
    stopAfterParked: z.number().int().min(1),
    retryParkedEveryMs: z.number().int().min(1).exactOptional(),
    timeoutSeconds: z.number().int().min(1),
  }),
  queueUrl: z.string().min(1),
  parkedQueueUrl: z.string().min(1),
});

/** CloudFormation turns values into strings; JSON text stays as it is. */
const jsonText = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'wanted JSON text' });
        return z.NEVER;
      }
    })
    .pipe(schema);

const properties = z.object({
  Groups: z
    .array(
      z.object({
        name: z.string().min(1),
        writer: endpoint,
        reader: endpoint,
        nodes: z.array(endpoint).min(1),
        clusterArn: z.string().min(1),
        secret: z.string().min(1),
        userSecrets: z.object(ofMadeUsers(() => z.string().min(1))).exactOptional(),
        sharedStorage: z.union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')]),
      }),
    )
    .min(1),
  Datastores: z.array(
    z.object({
      name: z.string().min(1),
      shards: z.coerce.number().int().min(1),
      sealed: jsonText(z.array(sealed)).exactOptional(),
      indexes: jsonText(z.array(index)),
      triggers: jsonText(z.array(trigger)),
      retention: jsonText(retention).exactOptional(),
    }),
  ),
});

/** Reads a deployment's wish from its custom resource. Throws an Error that names the property. */
export function readWish(given: unknown): MigrationWish {
  const { Groups: groups, Datastores: datastores } = properties.parse(given);
  return { groups, datastores };
}
