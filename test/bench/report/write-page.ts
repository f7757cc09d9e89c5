/** `npm run report`: makes a page of what benches found. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { FINDINGS_FILE, readFindings } from './findings-file.ts';
import { page } from './page.ts';

const command = new Command('npm run report --')
  .description('Makes a page of what benches found: it needs no script, and nothing from elsewhere.')
  .argument('[page]', 'file of the page, not committed', join(import.meta.dirname, '..', 'report.html'))
  .option('--findings <file>', 'what `npm run bench` keeps', FINDINGS_FILE)
  .parse();
const [file = ''] = command.processedArgs as readonly string[];
writeFileSync(file, await page(readFindings(command.opts<{ findings: string }>().findings)));
console.log(pathToFileURL(resolve(file)).href);
