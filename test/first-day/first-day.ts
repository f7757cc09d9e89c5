/**
 * `npm run first-day -- URL`: measures a deployed environment, and prints a page. Ends with 1 if a row failed, or none
 * passed.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { VERSION } from '../../shared/version.ts';
import { reachEnvironment } from '../support/deployed/reach.ts';
import { measureAll } from './measure.ts';
import { readFirstDay } from './options.ts';
import { outcomeOf, pageOf } from './page.ts';

process.exit(await run());

async function run(): Promise<number> {
  const options = readFirstDay(process.argv.slice(2));
  const began = new Date();
  try {
    // Fails before anything is measured if the page cannot be written.
    if (options.page !== undefined) closeSync(openSync(options.page, 'a'));
    const environment = await reachEnvironment(options);
    const { url, region, accessKeyId, shards } = environment;
    console.error(`${url} in ${region}, as ${accessKeyId}: datastore smoke, ${shards} shards`);
    const rows = await measureAll(options, environment, ({ title, section, ...row }) => {
      console.error(`${title}: ${outcomeOf(row)}`);
      for (const { what, result } of section?.results ?? []) console.error(`  ${what}: ${result}`);
    });
    const page = pageOf({ url, region, version: VERSION, began, ended: new Date() }, rows);
    if (options.page === undefined) process.stdout.write(page);
    else writeFileSync(options.page, page);
    const outcomes = new Set(rows.map(({ outcome }) => outcome));
    return outcomes.has('passed') && !outcomes.has('FAILED') ? 0 : 1;
  } catch (error) {
    console.error(`first-day: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}
