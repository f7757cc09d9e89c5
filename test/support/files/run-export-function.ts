/** Runs `functions/export-cells.ts` once, as Lambda does: `node run-export-function.ts MILLISECONDS`, which it has. */
import type { Context } from 'aws-lambda';
import { handler } from '../../../functions/export-cells.ts';

// Clock: the function learns its remaining time, as from Lambda
const end = Date.now() + Number(process.argv[2]);
// Clock: as above
const context = { functionName: 'export-readings', getRemainingTimeInMillis: () => end - Date.now() };
// Clock: nothing else keeps the process while the function waits for the end of its time.
const alive = setInterval(() => undefined, 1000);
try {
  await handler({}, context as Context);
} finally {
  clearInterval(alive);
}
