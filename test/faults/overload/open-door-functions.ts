import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FUNCTIONS = fileURLToPath(new URL('../../../functions/', import.meta.url));
const OPEN_DOOR = fileURLToPath(new URL('open-door-write-cells.ts', import.meta.url));

/** Fills a folder with functions for a stack: the product's own, but for writes, which know no admission control. */
export function openDoorFunctions(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(FUNCTIONS).filter((name) => name.endsWith('.ts'))) {
    const module = file === 'write-cells.ts' ? OPEN_DOOR : join(FUNCTIONS, file);
    writeFileSync(join(folder, file), `export * from ${JSON.stringify(module)};\n`);
  }
  return folder;
}
