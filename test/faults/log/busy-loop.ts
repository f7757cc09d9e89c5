/** A process that works at nothing until its parent is gone. */
const SLICE_MS = 50;

process.on('disconnect', () => process.exit(0));

function slice(): void {
  const end = performance.now() + SLICE_MS;
  while (performance.now() < end);
  setImmediate(slice);
}
slice();
