/** `npm run first-day -- URL`: measures a deployed environment, and prints a page. Ends with 1 where it cannot. */
import { writeFileSync } from 'node:fs';
import { VERSION } from '../../shared/version.ts';
import { reachEnvironment } from '../support/deployed/reach.ts';
import { measureAll } from './measure.ts';
import { readFirstDay } from './options.ts';
import { pageOf } from './page.ts';

const options = readFirstDay(process.argv.slice(2));
const began = new Date();
try {
  const { url, region, accessKeyId, shards } = await reachEnvironment(options);
  console.error(`${url} in ${region}, as ${accessKeyId}: datastore smoke, ${shards} shards`);
  const sections = await measureAll(options, ({ title, how, figures }) => {
    console.error(figures.length === 0 ? `${title}: ${how}` : title);
    for (const { what, figure } of figures) console.error(`  ${what}: ${figure}`);
  });
  const page = pageOf({ url, region, version: VERSION, began, ended: new Date() }, sections);
  if (options.page === undefined) process.stdout.write(page);
  else writeFileSync(options.page, page);
  process.exit(0);
} catch (error) {
  console.error(`first-day: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
