import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The machine's own Debian source, set to another suite: the same server, keys and options, for `main` of `suite`.
 * Both forms that apt knows are read: `deb …` lines and stanzas. Undefined when there is none for `codename`.
 *
 * @param {string} folder usually /etc/apt
 * @param {string} codename the machine's release, "bookworm"
 * @param {string} suite "sid"
 * @returns {{ file: string, text: string } | undefined} a file for apt's `sources.list.d`
 */
export function suiteOfSources(folder, codename, suite) {
  const parts = join(folder, 'sources.list.d');
  const files = [
    join(folder, 'sources.list'),
    ...(existsSync(parts)
      ? readdirSync(parts)
          .sort()
          .map((name) => join(parts, name))
      : []),
  ];
  for (const file of files.filter((name) => existsSync(name))) {
    const text = readFileSync(file, 'utf8');
    const found = file.endsWith('.sources') ? fromStanzas(text, codename, suite) : fromLines(text, codename, suite);
    if (found !== undefined) return found;
  }
  return undefined;
}

function fromLines(text, codename, suite) {
  for (const line of text.split('\n')) {
    const [, options = '', address, name, components] =
      /^\s*deb\s+(\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+([^#]*)/.exec(line) ?? [];
    if (name === codename && words(components).includes('main'))
      return { file: 'other.list', text: `deb ${options}${address} ${suite} main\n` };
  }
  return undefined;
}

function fromStanzas(text, codename, suite) {
  const stanzas = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .split(/\n\s*\n/);
  for (const stanza of stanzas) {
    const field = (name) => new RegExp(`^${name}:(.*)$`, 'im').exec(stanza)?.[1];
    if (/^\s*no\s*$/i.test(field('Enabled') ?? '')) continue;
    const fits =
      words(field('Types')).includes('deb') &&
      words(field('Suites')).includes(codename) &&
      words(field('Components')).includes('main');
    if (!fits) continue;
    const changed = stanza
      .trim()
      .replace(/^Types:.*$/im, 'Types: deb')
      .replace(/^Suites:.*$/im, `Suites: ${suite}`)
      .replace(/^Components:.*$/im, 'Components: main');
    return { file: 'other.sources', text: `${changed}\n` };
  }
  return undefined;
}

function words(text) {
  return (text ?? '').trim().split(/\s+/);
}
