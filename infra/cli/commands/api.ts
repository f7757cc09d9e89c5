import type { Command } from 'commander';
import { readConditions } from '../../../shared/api/condition.ts';
import type { Operation } from '../../../shared/api/operation.ts';
import { ROUTES } from '../../../shared/api/operations.ts';
import { namesIn } from '../../../shared/api/path.ts';
import type { Components, Schema } from '../../../shared/api/shape.ts';
import { parseJson } from '../../../shared/body/json.ts';
import { closestName } from '../../../shared/closest-name.ts';
import { command } from '../cli.ts';
import { readBody } from './put.ts';
import { badUsage } from '../errors.ts';

/** `schemaless api`: calls any operation by its name in the API's description. */
export function api(): Command {
  return command('api')
    .description('call an operation of the API by its name, and print the answer')
    .argument('[operation]', 'its name in the OpenAPI document (default: lists all)')
    .argument('[parameter...]', 'NAME=VALUE, of the path, the query or the body; as JSON if it is not text')
    .examples(
      ['schemaless api', 'all operations, with their parameters'],
      ['schemaless api getTrigger trigger=bill_rider limit=1', 'one trigger'],
      [`schemaless api pauseTrigger trigger=bill_rider reason='the card service is down'`, 'at once, unasked'],
      [`schemaless api queryIndex index=driver_index driver_uuid=7a1d… 'fare[gte]=1000'`, 'a query'],
    )
    .run<[name: string | undefined, given: readonly string[]]>(async (session, [name, given]) => {
      if (name === undefined) {
        const listed = ROUTES.map((route) => {
          const { operation, summary } = route;
          return { operation, parameters: parametersOf(route), summary };
        });
        return session.output.list(
          [listed],
          [
            { header: 'OPERATION', value: ({ operation }) => operation },
            { header: 'PARAMETERS', value: ({ parameters }) => parameters.join(' ') },
            { header: 'SUMMARY', value: ({ summary }) => summary },
          ],
        );
      }
      const operation = ROUTES.find((route) => route.operation === name);
      if (operation === undefined) {
        const likely = closestName(
          name,
          ROUTES.map((route) => route.operation),
        );
        throw badUsage('operation', `one that \`schemaless api\` lists${likely ? `, such as ${likely}` : ''}`, name);
      }
      return session.output.record(await session.call(operation, await readParameters(operation, given)));
    });
}

function parametersOf(operation: Operation): readonly string[] {
  const { path, query = {}, where } = operation;
  return [
    ...namesIn(path).filter((name) => name !== 'datastore'),
    ...Object.keys(query),
    ...Object.keys(membersOf(operation)),
    ...(where === undefined ? [] : ['FIELD', 'FIELD[gte]', '…']),
  ];
}

/** Returns the members of the body, with their schemas. */
function membersOf({ body, whole }: Operation): Readonly<Record<string, Schema>> {
  const components: Components = {};
  const resolved = (schema: Schema): Schema => {
    const { $ref } = schema;
    return typeof $ref === 'string' ? (components[$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
  };
  if (body === undefined) return {};
  const schema = resolved(body.describe(components));
  if (whole) return { body: {} };
  const { oneOf = [schema] } = schema as { readonly oneOf?: readonly Schema[] };
  const members = oneOf.flatMap(({ properties }) => Object.entries(properties as Readonly<Record<string, Schema>>));
  return Object.fromEntries(members.map(([name, one]) => [name, resolved(one)]));
}

async function readParameters(
  operation: Operation,
  given: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const { path, query = {}, where, whole } = operation;
  const members = membersOf(operation);
  const inPath: readonly string[] = namesIn(path).filter((name) => name !== 'datastore');
  const texts = new Map<string, string[]>();
  for (const text of given) {
    const end = text.indexOf('=');
    if (end < 1) throw badUsage('parameter', 'NAME=VALUE', JSON.stringify(text.slice(0, 60)));
    const name = text.slice(0, end);
    texts.set(name, [...(texts.get(name) ?? []), text.slice(end + 1)]);
  }
  const read: Record<string, unknown> = {};
  const others = new Map<string, readonly string[]>();
  for (const [name, values] of texts) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    const parameter = Object.hasOwn(query, name) ? query[name] : undefined;
    if (member === undefined && parameter === undefined && !inPath.includes(name)) {
      others.set(name, values);
      continue;
    }
    const [value = '', second] = values;
    if (second !== undefined && parameter?.isRepeated !== true)
      throw badUsage(name, 'one value', values.join(', then '));
    if (parameter?.isRepeated) read[name] = values;
    else if (member === undefined) read[name] = value;
    else read[name] = whole === true ? await readBody(value) : valueOf(value, member, name);
  }
  if (where !== undefined) return { ...read, where: readConditions(others) };
  const [stranger] = others.keys();
  if (stranger !== undefined)
    throw badUsage('parameter', `one of ${parametersOf(operation).join(', ') || 'none at all'}`, stranger);
  return read;
}

/** Parses a typed value: as text for a member that is only text, else as JSON, or as text if it may be text. */
function valueOf(text: string, schema: Schema, name: string): unknown {
  const { type, oneOf } = schema;
  if (type === 'string') return text;
  try {
    return parseJson(text, { field: name });
  } catch (error) {
    if (oneOf === undefined) throw error;
    return text;
  }
}
