import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json } from '../../../../shared/cell.ts';
import type { GatewayAnswer } from '../../../functions/support/gateway.ts';

interface Response {
  /** @default no body */
  readonly content?: Readonly<Record<string, { readonly schema: Json; readonly example?: Json }>>;
}
interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Json;
    readonly example: Json;
  }[];
  readonly requestBody?: Response;
  readonly responses: Readonly<Record<string, Response>>;
}
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: Json;
}

export function operationsOf(document: Document): readonly DocumentedOperation[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods));
}

/** Holds values against schemas of the document. Returns what is wrong, nothing when all is well. */
export function schemaCheck(document: Document): (schema: Json, value: unknown) => readonly string[] {
  const check = schemaErrors(document);
  return (schema, value) =>
    check(schema, value).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
}

/** The same, as the names of fields in problems: `cells[1].ref_key`; `body` is the whole. */
export function wrongFields(document: Document): (schema: Json, value: unknown) => readonly string[] {
  const check = schemaErrors(document);
  return (schema, value) =>
    check(schema, value).map(({ instancePath, params }) => {
      const { missingProperty, additionalProperty } = params;
      const parts = [...instancePath.split('/').slice(1), missingProperty ?? additionalProperty].flatMap((part) =>
        part === undefined ? [] : String(part).replaceAll('~1', '/'),
      );
      const name = parts.map((part) => (/^\d+$/u.test(part) ? `[${part}]` : `.${part}`)).join('');
      return name === '' ? 'body' : name.replace(/^\./u, '');
    });
}

function schemaErrors(document: Document): (schema: Json, value: unknown) => readonly ErrorObject[] {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
  // @ts-expect-error -- its types describe the CommonJS form
  addFormats(ajv);
  ajv.addKeyword('components');
  const components = closed(document.components);
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile({ ...(closed(schema) as object), components });
    compiled.set(text, validate);
    return validate(value) ? [] : (validate.errors ?? []);
  };
}

/** Holds answers against the document: operation, status, content type, shape. */
export function answerCheck(
  document: Document,
): (answer: Pick<GatewayAnswer, 'operation' | 'status' | 'headers' | 'json'>) => readonly string[] {
  const check = schemaCheck(document);
  const operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
  return ({ operation, status, headers, json }) => {
    const response = operations.get(operation ?? '')?.responses[String(status)];
    if (response === undefined)
      return [`${operation} answered the undocumented status ${status}: ${JSON.stringify(json)}`];
    if (response.content === undefined) return check({ type: 'object', maxProperties: 0 }, json);
    const content = response.content[String(headers['content-type'])];
    if (content === undefined)
      return [`${operation} answered ${status} with the undocumented type ${String(headers['content-type'])}`];
    return check(content.schema, json).map((error) => `${operation} ${status}: ${error}`);
  };
}

/** The document lets later versions add members; what is answered now must have none that it does not name. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return parts['type'] === 'object' && parts['required'] !== undefined
    ? { ...parts, additionalProperties: false }
    : parts;
}
