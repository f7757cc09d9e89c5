import type { HttpOperation } from './operation.ts';

/** GET /indexes: every index with its definition, state and lag. */
export const listIndexes: HttpOperation = async (request, deployment) => {
  request.query();
  const datastore = await deployment.datastore(request.path('datastore'));
  return { status: 200, body: { indexes: await datastore.indexes() } };
};
