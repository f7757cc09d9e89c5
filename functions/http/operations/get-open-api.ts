import { writeJson, type JsonText } from '../../../shared/body/json.ts';
import type { SERVICE } from '../../../shared/api/service.ts';
import type { Answers } from '../answering.ts';

const written = new Map<boolean, JsonText>();

/** Returns the API as OpenAPI 3.1, encoded once in each instance. */
export const DOCUMENT: Pick<Answers<typeof SERVICE, unknown>, 'getOpenApi'> = {
  async getOpenApi(_asked, { isSigned }) {
    const { openApi } = await import('../whole-api.ts');
    const json = written.get(isSigned) ?? writeJson(openApi({ isSigned }));
    written.set(isSigned, json);
    return { status: 200, json };
  },
};
