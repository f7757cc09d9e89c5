/** Every operation, for what few requests ask: bundles have it as a file of its own, loaded when it is asked. */
export { methodsOf } from '../../shared/api/operations.ts';
export { openApi } from '../../shared/api/openapi.ts';
