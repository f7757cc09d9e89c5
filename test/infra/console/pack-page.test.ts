import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packPage } from '../../../infra/console/pack-page.ts';

/** Of all files together, compressed; `npm run console-size` prints each. */
const MOST_BYTES = 100_000;
const { files, sources } = packPage();
const scripts = Object.entries(files).filter(([path]) => path.endsWith('.js'));

describe('the page', () => {
  it('is small', () => {
    const sent = Object.values(files).map(({ gzip }) => Buffer.byteLength(gzip, 'base64'));
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(MOST_BYTES);
  });

  it('is the same compressed', () => {
    for (const { text, gzip } of Object.values(files))
      expect(gunzipSync(Buffer.from(gzip, 'base64')).toString('utf8')).toBe(text);
  });

  it('has every file that its document and its modules name, and none of another origin', () => {
    const named = [...(files['index.html']?.text ?? '').matchAll(/(?:href|src)="(?<path>[^"]+)"/gu)];
    expect(named.length).toBeGreaterThan(4);
    for (const { groups } of named)
      expect(Object.keys(files)).toContain(groups?.['path']?.replace(/^\/console\//u, ''));
    for (const [, { text }] of scripts)
      for (const { groups } of text.matchAll(/(?<![\w.])(?:from|import)\s*\(?"(?<path>\.[\w./-]+)"/gu))
        expect(Object.keys(files)).toContain(groups?.['path']?.replace(/^\.\//u, ''));
  });

  it('has no script and no style in its document, which its policy forbids', () => {
    expect(files['index.html']?.text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/u);
  });

  it('makes no markup of text', () => {
    const own = sources.filter((path) => path.includes('/infra/console/page/'));
    expect(own.length).toBeGreaterThan(40);
    const main = scripts.find(([path]) => path === 'main.js')?.[1].text ?? '';
    expect(main).not.toMatch(/dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|\.outerHTML|eval\(/u);
  });

  it('fetches what draws charts only where one is drawn', () => {
    expect(files['index.html']?.text).not.toMatch(/chart-/u);
    expect(scripts.map(([path]) => path)).toContainEqual(expect.stringMatching(/^chart-/u));
  });
});
