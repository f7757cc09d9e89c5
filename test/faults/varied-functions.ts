import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FUNCTIONS = fileURLToPath(new URL('../../functions/', import.meta.url));

/**
 * Fills a folder with functions for a stack: the product's own, but for some.
 *
 * @param varied modules by the name of the function that they stand for ("write-cells")
 */
export function variedFunctions(folder: string, varied: Readonly<Record<string, URL>>): string {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(FUNCTIONS).filter((name) => name.endsWith('.ts'))) {
    const instead = varied[file.replace(/\.ts$/, '')];
    writeFileSync(
      join(folder, file),
      `export * from ${JSON.stringify(instead ? fileURLToPath(instead) : join(FUNCTIONS, file))};\n`,
    );
  }
  return folder;
}
