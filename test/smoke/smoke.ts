/** `npm run smoke -- URL`: checks a deployed environment as a client does. Ends with 1 when a check fails. */
import { readOptions } from '../support/deployed/options.ts';
import { reachEnvironment } from '../support/deployed/reach.ts';
import { reportLines } from './report.ts';
import { runChecks } from './run-checks.ts';

const options = readOptions(process.argv.slice(2));
// Handles that the test runner left open must not keep this process alive.
process.exit(await run());

async function run(): Promise<number> {
  const start = performance.now();
  try {
    const environment = await reachEnvironment(options);
    const { url, region, accessKeyId, shards } = environment;
    console.log(`${url} in ${region}, as ${accessKeyId}: datastore smoke, ${shards} shards`);
    const checks = await runChecks(environment, console.log);
    for (const line of reportLines(checks, (performance.now() - start) / 1000)) console.log(line);
    return checks.length > 0 && checks.every(({ state }) => state !== 'failed') ? 0 : 1;
  } catch (error) {
    console.error(`smoke: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}
