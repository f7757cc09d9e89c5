import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { openApi } from '../../../shared/api/openapi.ts';
import { PLAIN_JSON } from '../../../shared/api/plain-json.ts';
import { qualityOf } from '../request.ts';
import type { MadeBody } from '../answer.ts';
import type { Answers } from '../answering.ts';
import type { SERVICE } from '../../../shared/api/service.ts';

/** The API as OpenAPI 3.1, made once for each instance. */
export const DOCUMENT: Pick<Answers<typeof SERVICE, unknown>, 'getOpenApi'> = {
  async getOpenApi(_asked, request) {
    const document = request.isSigned ? signed() : unsigned();
    const { made, headers } = qualityOf(request.header('accept-encoding'), 'gzip') > 0 ? document.gzip : document.plain;
    return { status: 200, made, headers };
  },
};

interface Written {
  readonly plain: Form;
  readonly gzip: Form;
}

interface Form {
  readonly made: MadeBody;
  readonly headers: { readonly etag: string; readonly [name: string]: string };
}

const OF_BOTH = { ...PLAIN_JSON, vary: 'accept-encoding' };
const signed = once(() => written(true));
const unsigned = once(() => written(false));

function written(isSigned: boolean): Written {
  const text = `${JSON.stringify(openApi({ isSigned }))}\n`;
  const tag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return {
    plain: { made: { body: text, isBase64Encoded: false }, headers: { ...OF_BOTH, etag: `"${tag}"` } },
    gzip: {
      made: { body: gzipSync(text).toString('base64'), isBase64Encoded: true },
      // Other bytes, so that their name is another.
      headers: { ...OF_BOTH, etag: `"${tag}-gzip"`, 'content-encoding': 'gzip' },
    },
  };
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}
