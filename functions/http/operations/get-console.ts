import { existsSync, readFileSync } from 'node:fs';
import type { CONSOLE_ROUTES } from '../../../shared/api/operations.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { VERSION } from '../../../shared/version.ts';
import { qualityOf, type HttpRequest } from '../request.ts';
import type { Answer } from '../answer.ts';
import type { HttpOperation } from '../answering.ts';

/** A file of the page in the function's bundle. */
interface PackedFile {
  readonly type: string;
  readonly etag: string;
  readonly text: string;
  /** In base64. */
  readonly gzip: string;
}

/** Next to the bundle; `infra/console/pack-page.ts` writes it. */
const PACKED = new URL('console.json', import.meta.url);
const INDEX = 'index.html';
const SESSION = 'session.json';

/**
 * The page may only run files of this origin, and send requests to it. No text becomes a script (`trusted-types`), no
 * other page may frame it, and it sends no referrer.
 */
const GUARDED = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** GET /console: the page. */
const openConsole: HttpOperation<Deployment> = async (request) => {
  request.query();
  return fileAnswer(INDEX, request);
};

/** GET /console/{file}: the page's files; `/console/` is also the page. */
const getConsoleFile: HttpOperation<Deployment> = async (request, deployment) => {
  request.query();
  const name = request.path('file', INDEX);
  return name === SESSION
    ? { status: 200, body: await session(request, deployment), headers: { ...GUARDED, ...NO_STORE } }
    : fileAnswer(name, request);
};

/** By method and path. */
export const CONSOLE: Readonly<Record<ConsoleRoute, HttpOperation<Deployment>>> = {
  'GET /console': openConsole,
  'HEAD /console': openConsole,
  'GET /console/{file+}': getConsoleFile,
  'HEAD /console/{file+}': getConsoleFile,
};

type RouteKeyOf<Route> = Route extends {
  readonly method: infer Method extends string;
  readonly path: infer Path extends string;
}
  ? `${Method} ${Path}`
  : never;
type ConsoleRoute = RouteKeyOf<(typeof CONSOLE_ROUTES)[number]>;

const NO_STORE = { 'cache-control': 'no-store' };

/** Returns the session. If requests are signed, `schemaless console` signs for the page, and reads these names. */
async function session({ isSigned }: HttpRequest, deployment: Deployment): Promise<object> {
  return { version: VERSION, datastores: await deployment.datastores(), actions: !isSigned, through: null };
}

function fileAnswer(name: string, request: HttpRequest): Answer {
  const file = files()?.get(name);
  if (!file) throw new SchemalessError('unknown_route', `No such file of the console: ${name}`);
  const { type, etag, text, gzip } = file;
  const takesGzip = qualityOf(request.header('accept-encoding'), 'gzip') > 0;
  // Different bytes need a different tag.
  const tag = takesGzip ? `"${etag}-gzip"` : `"${etag}"`;
  const headers = {
    ...GUARDED,
    etag: tag,
    // The browser revalidates each time, and gets 304.
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    ...(takesGzip && { 'content-encoding': 'gzip' }),
  };
  const made = takesGzip ? { body: gzip, isBase64Encoded: true } : { body: text, isBase64Encoded: false };
  return { status: 200, contentType: type, made, headers };
}

let read: ReadonlyMap<string, PackedFile> | undefined;

/** Returns files by path; undefined without a page in the bundle. Reads them once in an instance, at first use. */
function files(): ReadonlyMap<string, PackedFile> | undefined {
  if (!read && existsSync(PACKED)) {
    const packed = JSON.parse(readFileSync(PACKED, 'utf8')) as Readonly<Record<string, PackedFile>>;
    read = new Map(Object.entries(packed));
  }
  return read;
}
