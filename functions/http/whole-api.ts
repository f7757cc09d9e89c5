/** Exports what needs every operation. Bundles keep it in a file that loads with the first request for it. */
export { methodsOf } from '../../shared/api/operations.ts';
export { openApi } from '../../shared/api/openapi.ts';
