import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { extname, join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';

/** What the page is written in: modules, styles and the document. */
const PAGE = join(import.meta.dirname, 'page');

/**
 * The packages that the page imports: file of the package by the name that modules import. A browser knows no names of
 * packages, and a map of them would be a script in the document, which its policy forbids.
 */
const PACKAGES: Readonly<Record<string, string>> = {
  preact: 'dist/preact.mjs',
  'preact/hooks': 'hooks/dist/hooks.mjs',
  htm: 'dist/htm.module.js',
  uplot: 'dist/uPlot.esm.js',
};
/** Files of packages that are no modules, by the path that the page has them under. */
const STYLES: Readonly<Record<string, string>> = { 'lib/uplot.css': 'uplot/dist/uPlot.min.css' };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file as the function reads it, see `functions/http/operations/get-console.ts`. */
export interface PackedFile {
  readonly type: string;
  readonly etag: string;
  readonly text: string;
  /** In base64. */
  readonly gzip: string;
}

/** The page as it is served. */
export interface PackedPage {
  /** Of the file beside the function. */
  readonly name: string;
  /** Its content: the files as JSON. */
  readonly text: string;
  readonly files: Readonly<Record<string, PackedFile>>;
  /** Paths of what it was made of. */
  readonly sources: readonly string[];
}

/**
 * The files of the page, ready to be served. There is no bundle: each module is a file of its own, as it was written,
 * without its types, as Node itself reads it; packages come as they are published, made small.
 */
export function packPage(): PackedPage {
  const sources: string[] = [];
  const read = (path: string): string => {
    sources.push(path);
    return readFileSync(path, 'utf8');
  };
  const files: Record<string, PackedFile> = {};
  for (const path of globSync('**/*.{ts,css,html,svg}', { cwd: PAGE }).toSorted()) {
    const text = read(join(PAGE, path));
    const code = extname(path) === '.ts' ? withoutTypes(text, path) : undefined;
    // Of types alone nothing is left, and nothing imports them.
    if (code !== undefined && code !== '') files[servedAs(path)] = packed('.js', code);
    if (code === undefined) files[path] = packed(extname(path), text);
  }
  for (const name of Object.keys(PACKAGES)) {
    const text = readPackage(name, read);
    files[libraryFile(name)] = packed('.js', made(text, libraryFile(name), true));
  }
  for (const [path, file] of Object.entries(STYLES)) files[path] = packed('.css', read(fileOf(file)));
  const document = files[DOCUMENT];
  if (document) files[DOCUMENT] = packed('.html', document.text.replace(PRELOADED, preloads(files)));
  return { name: 'console.json', text: JSON.stringify(files), files, sources };
}

/** Where the document names the modules that it loads at once, so that they come in one go and not import by import. */
const PRELOADED = '<!-- modules -->';
const DOCUMENT = 'index.html';
const FIRST_MODULE = 'main.js';
/** As `made` writes them; what is imported later is not fetched before. */
const STATIC_IMPORT = /(?<![\w"'.$])(?:from|import)\s*"(?<name>[^"]+)"/gu;

function preloads(files: Readonly<Record<string, PackedFile>>): string {
  const found = new Set([FIRST_MODULE]);
  for (const path of found)
    for (const { groups } of (files[path]?.text ?? '').matchAll(STATIC_IMPORT))
      found.add(posix.join(posix.dirname(path), groups?.['name'] ?? ''));
  return [...found].map((path) => `<link rel="modulepreload" href="console/${path}">`).join('\n');
}

function servedAs(path: string): string {
  return path.replace(/\.ts$/u, '.js');
}

function libraryFile(name: string): string {
  return `lib/${name.replaceAll('/', '-')}.js`;
}

function readPackage(name: string, read: (path: string) => string): string {
  const [packageName = name] = name.split('/');
  return read(fileOf(`${packageName}/${PACKAGES[name]}`));
}

/** `NAME/FILE`, where packages are installed. */
function fileOf(path: string): string {
  return join(import.meta.dirname, '../../node_modules', path);
}

function withoutTypes(text: string, path: string): string {
  return made(text, path, false);
}

/** A module whose imports a browser finds. */
function made(text: string, path: string, isLibrary: boolean): string {
  const { code } = transformSync(text, {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    minify: isLibrary,
    // Licences of packages stay with them.
    legalComments: isLibrary ? 'inline' : 'none',
    sourcefile: path,
  });
  const up = '../'.repeat(path.split('/').length - 1) || './';
  return code.replaceAll(IMPORT, (all, before: string, name: string) => {
    if (name.startsWith('.')) return `${before}"${servedAs(name)}"`;
    if (name in PACKAGES) return `${before}"${up}${libraryFile(name)}"`;
    throw new Error(`${path}: wanted an import of the page or of ${Object.keys(PACKAGES).join(', ')}, got ${all}`);
  });
}

/** As the compiler writes imports: of names, of a module alone, of one that is loaded later. */
const IMPORT = /(?<before>(?<![\w"'.$])(?:from\s*|import\s*\(?\s*))"(?<name>[\w./-]+)"/gu;

function packed(extension: string, text: string): PackedFile {
  const type = TYPES[extension];
  if (type === undefined) throw new Error(`the page: wanted ${Object.keys(TYPES).join(', ')}, got ${extension}`);
  const etag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { type, etag, text, gzip: gzipSync(text, { level: 9 }).toString('base64') };
}
