import { DEFINITIONS } from '../../../shared/api/definitions.ts';
import { filesSource } from '../../../shared/definitions/definition-source.ts';
import { judgeDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import { answerWith, type Answers } from '../answering.ts';

/** Creates datastores, indexes and triggers, and deletes indexes and triggers. */
export const DEFINE: Answers<typeof DEFINITIONS, DefinitionManagement> = {
  async applyDefinitions({ files, dry_run = false }, _request, management) {
    // Each file is parsed as text, also if it came as another type.
    const texts = new Map(Object.entries(files as Readonly<Record<string, string>>));
    const { definitions, problems, warnings } = judgeDefinitions(filesSource('the request', texts));
    if (problems.length > 0) {
      const lines = problems.map(({ file, line, message }) => `${file}${line > 0 ? `:${line}` : ''}: ${message}`);
      throw new SchemalessError('invalid_definition', lines.join('; '), { field: 'files', more: { problems } });
    }
    const outcome = await management.apply(definitions, dry_run);
    return answerWith(DEFINITIONS.applyDefinitions, { ...outcome, warnings });
  },
  deleteIndex: async ({ datastore, index, ...how }, _request, management) =>
    answerWith(DEFINITIONS.deleteIndex, await management.deleteIndex(datastore, index, how)),
  deleteTrigger: async ({ datastore, trigger, ...how }, _request, management) =>
    answerWith(DEFINITIONS.deleteTrigger, await management.deleteTrigger(datastore, trigger, how)),
};
