import type { Json } from '../cell.ts';

/** A JSON Schema (2020-12), as OpenAPI 3.1 takes it. */
export type Schema = { readonly [keyword: string]: Json };

/** An object whose members all come, but for those named optional. Others may follow in later versions. */
export function objectOf(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) };
}

export function arrayOf(items: Schema, maxItems?: number): Schema {
  return maxItems === undefined ? { type: 'array', items } : { type: 'array', items, maxItems };
}

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** A reference to a schema of the document's components. */
export function schema(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The members by which each read says who answered. */
export const SERVED = {
  served_by: { enum: ['writer', 'reader'], description: 'Which node of the group answered.' },
  stale: { type: 'boolean', description: 'The answer may be behind what has been acknowledged.' },
};
