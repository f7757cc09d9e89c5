import type { DeleteOptions } from '../../../shared/contract/definition-operations.ts';
import { missingField } from '../../../shared/errors.ts';
import type { DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import { type HttpRequest, readDryRun } from '../request.ts';
import type { HttpOperation } from './operation.ts';

/** DELETE /v1/{datastore}/indexes/{index}?confirm={index}. */
export const deleteIndex: HttpOperation<DefinitionManagement> = async (request, management) => ({
  status: 200,
  body: await management.deleteIndex(request.path('datastore'), request.path('index'), readOptions(request)),
});

/** DELETE /v1/{datastore}/triggers/{trigger}?confirm={trigger}. */
export const deleteTrigger: HttpOperation<DefinitionManagement> = async (request, management) => ({
  status: 200,
  body: await management.deleteTrigger(request.path('datastore'), request.path('trigger'), readOptions(request)),
});

function readOptions(request: HttpRequest): DeleteOptions {
  const query = request.query({ once: ['confirm', 'force', 'dry_run'] });
  const confirm = query.text('confirm');
  if (confirm === undefined) throw missingField('confirm', 'the name of what is deleted, once more');
  return { confirm, force: query.choice('force', ['true', 'false']) === 'true', dry_run: readDryRun(query) };
}
