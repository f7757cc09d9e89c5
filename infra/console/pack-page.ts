import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { extname, join, posix, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';

const PAGE = join(import.meta.dirname, 'page');
const MODULES = join(import.meta.dirname, '../../node_modules');
/** Files of packages that are no modules, by the path that the page has them under. */
const STYLES: Readonly<Record<string, string>> = { 'lib/uplot.css': 'uplot/dist/uPlot.min.css' };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file as the function reads it, see `functions/http/operations/get-console.ts`. */
interface PackedFile {
  readonly type: string;
  readonly etag: string;
  readonly text: string;
  readonly gzip: string;
}

interface PackedPage {
  readonly name: string;
  readonly text: string;
  readonly files: Readonly<Record<string, PackedFile>>;
  readonly sources: readonly string[];
}

/** Packs the page's files. Modules are joined: 50 calls took half a second. The chart is loaded when drawn. */
export function packPage(): PackedPage {
  const sources: string[] = [];
  const read = (path: string): string => {
    sources.push(path);
    return readFileSync(path, 'utf8');
  };
  const files: Record<string, PackedFile> = {};
  for (const [path, text] of joinedModules(sources)) files[path] = packed('.js', text);
  for (const path of globSync('**/*.{css,html,svg}', { cwd: PAGE }).toSorted())
    files[path] = packed(extname(path), read(join(PAGE, path)));
  for (const [path, file] of Object.entries(STYLES)) files[path] = packed('.css', read(join(MODULES, file)));
  const document = files[DOCUMENT];
  if (document) files[DOCUMENT] = packed('.html', document.text.replace(PRELOADED, preloads(files)));
  return { name: 'console.json', text: JSON.stringify(files), files, sources };
}

function joinedModules(sources: string[]): readonly (readonly [path: string, text: string])[] {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [join(PAGE, 'main.ts')],
    outdir: PAGE,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    // Names stay as they are written, for whoever looks at an error of the page.
    minifyWhitespace: true,
    minifySyntax: true,
    // Licences of packages stay with them.
    legalComments: 'inline',
    charset: 'utf8',
    logLevel: 'error',
  });
  sources.push(...Object.keys(metafile.inputs).map((path) => resolve(path)));
  return outputFiles.map(({ path, text }) => [posix.relative(PAGE, path), text]);
}

/** Where the document names the modules that it begins with, so that they come in one go and not import by import. */
const PRELOADED = '<!-- modules -->';
const DOCUMENT = 'index.html';
const FIRST_MODULE = 'main.js';
/** As the compiler writes imports; what is imported later is not fetched before. */
const STATIC_IMPORT = /(?<![\w"'.$])(?:from|import)\s*"(?<name>\.[\w./-]+)"/gu;

function preloads(files: Readonly<Record<string, PackedFile>>): string {
  const found = new Set([FIRST_MODULE]);
  for (const path of found)
    for (const { groups } of (files[path]?.text ?? '').matchAll(STATIC_IMPORT))
      found.add(posix.join(posix.dirname(path), groups?.['name'] ?? ''));
  return [...found].map((path) => `<link rel="modulepreload" href="/console/${path}">`).join('\n');
}

function packed(extension: string, text: string): PackedFile {
  const type = TYPES[extension];
  if (type === undefined) throw new Error(`the page: wanted ${Object.keys(TYPES).join(', ')}, got ${extension}`);
  const etag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { type, etag, text, gzip: gzipSync(text, { level: 9 }).toString('base64') };
}
