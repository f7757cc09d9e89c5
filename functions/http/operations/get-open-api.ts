import { openApi } from '../../../shared/api/openapi.ts';
import type { HttpOperation } from './operation.ts';

/** GET /v1/openapi.json: this API, as OpenAPI 3.1; that requests are signed is in it where they are. */
export const getOpenApi: HttpOperation = async (request) => {
  request.query();
  return { status: 200, body: openApi({ isSigned: request.isSigned }) };
};
