import type { Json } from '../../../shared/cell.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import { filesSource } from '../../../shared/definitions/definition-source.ts';
import { judgeDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { invalidField, missingField, SchemalessError } from '../../../shared/errors.ts';
import type { DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import { readMembers } from '../members.ts';
import type { HttpOperation } from './operation.ts';
import { readDryRun } from '../request.ts';

/** More than any folder that is meant has. */
const MOST_FILES = 1000;
const PATH = /^[a-z0-9_]+\/(?:datastore\.yaml|(?:indexes|triggers)\/[a-z0-9_]+\.yaml)$/u;
const FILES = `an object of 1 to ${MOST_FILES} definitions by path, as {"shop/datastore.yaml": "datastore: shop\\nshards: 16"}`;

/** POST /v1/definitions/apply `{files}`, `dry_run`. */
export const applyDefinitions: HttpOperation<DefinitionManagement> = async (request, management) => {
  const dryRun = readDryRun(request.query({ once: ['dry_run'] }));
  const source = filesSource('the request', readFiles(readMembers(request.json(), ['files']).files));
  const { definitions, problems, warnings } = judgeDefinitions(source);
  if (problems.length > 0) {
    const lines = problems.map(({ file, line, message }) => `${file}${line > 0 ? `:${line}` : ''}: ${message}`);
    throw new SchemalessError('invalid_definition', lines.join('; '), { field: 'files', more: { problems } });
  }
  const outcome = await management.apply(definitions, dryRun);
  return { status: outcome.done || dryRun ? 200 : 202, body: { ...outcome, warnings } };
};

/** Texts by path: what came as JSON is YAML, too. */
function readFiles(files: Json | undefined): ReadonlyMap<string, string> {
  if (files === undefined) throw missingField('files', FILES);
  if (typeof files !== 'object' || files === null || Array.isArray(files)) throw invalidField('files', FILES, files);
  const entries = Object.entries(files);
  if (entries.length === 0 || entries.length > MOST_FILES) throw invalidField('files', FILES, entries.length);
  return new Map(
    entries.map(([path, said]) => {
      if (!PATH.test(path))
        throw invalidField(
          'files',
          'paths as shop/datastore.yaml, shop/indexes/NAME.yaml, shop/triggers/NAME.yaml',
          path,
        );
      const isText = typeof said === 'string';
      if (!isText && (typeof said !== 'object' || said === null))
        throw invalidField(`files.${path}`, 'the text of a definition, or an object', said);
      return [path, isText ? said : stringifyJson(said)];
    }),
  );
}
