import { openApi } from '../../../shared/api/openapi.ts';
import type { HttpOperation } from './operation.ts';

/** GET /v1/openapi.json: this API, as OpenAPI 3.1. */
export const getOpenApi: HttpOperation = async (request) => {
  request.query();
  return { status: 200, body: openApi() };
};
