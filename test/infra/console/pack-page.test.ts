import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packPage } from '../../../infra/console/pack-page.ts';

/** Of all files together, compressed; `npm run console-size` prints each. */
const MOST_BYTES = 100_000;
const { files, sources } = packPage();

describe('the page', () => {
  it('is small', () => {
    const sent = Object.values(files).map(({ gzip }) => Buffer.byteLength(gzip, 'base64'));
    expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(MOST_BYTES);
  });

  it('is the same compressed', () => {
    for (const { text, gzip } of Object.values(files))
      expect(gunzipSync(Buffer.from(gzip, 'base64')).toString('utf8')).toBe(text);
  });

  it('has every file that its document names, and none of another origin', () => {
    const named = [...(files['index.html']?.text ?? '').matchAll(/(?:href|src)="(?<path>[^"]+)"/gu)];
    expect(named.length).toBe(3);
    for (const { groups } of named)
      expect(Object.keys(files)).toContain(groups?.['path']?.replace(/^\/console\//u, ''));
  });

  it('has no script and no style in its document, which its policy forbids', () => {
    expect(files['index.html']?.text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/u);
  });

  it('makes no markup of text', () => {
    const own = sources.filter((path) => path.includes('/infra/console/page/'));
    expect(own.length).toBeGreaterThan(40);
    const texts = own.map((path) => readFileSync(path, 'utf8')).join('\n');
    expect(texts).not.toMatch(/dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|\.outerHTML|eval\(/u);
  });
});
