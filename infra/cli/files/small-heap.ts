import { setFlagsFromString } from 'node:v8';

/** Keeps the heap small: half the memory for a quarter more processor time (an import of 200,000 cells). */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=50');
}
