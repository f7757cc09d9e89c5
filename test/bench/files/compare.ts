import { hash } from 'node:crypto';
import { addressKey } from '../../../shared/address.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { openInput } from '../../../infra/cli/files/import/open-input.ts';
import { START } from '../../../infra/cli/files/import/source.ts';
import { allCells } from '../../support/files/kill-and-resume.ts';
import { readings, type ReadingsOptions } from '../../support/files/readings.ts';

/** Lines that are not in the logs once, with their body, behind the lines of their row that come before them. */
export async function differencesOfFile(url: string, options: ReadingsOptions): Promise<readonly string[]> {
  const wanted = new Map<string, string>();
  for (const cell of readings(options)) wanted.set(addressKey(cell), sumOf(cell));
  const differences: string[] = [];
  const next = new Map<string, number>();
  for await (const cell of allCells(schemalessClient({ url, datastore: 'readings' }))) {
    const { row_key, ref_key } = cell;
    if (wanted.get(addressKey(cell)) !== sumOf(cell)) differences.push(`${addressKey(cell)} is no line of the file`);
    wanted.delete(addressKey(cell));
    // Lines of a row have the ref keys 0, 1, 2 …
    if (ref_key !== (next.get(row_key) ?? 0)) differences.push(`${addressKey(cell)} is not in the order of its row`);
    next.set(row_key, ref_key + 1);
  }
  return [...differences, ...[...wanted.keys()].map((address) => `${address} is missing`)];
}

/** Cells in which the files of an export, in their order, are not what a datastore's logs are. */
export async function differencesOfExport(
  url: string,
  folder: string,
  datastore = 'readings',
): Promise<readonly string[]> {
  const differences: string[] = [];
  const logs = allCells(schemalessClient({ url, datastore }));
  for await (const cell of cellsOf(folder)) {
    const { value: stored, done } = await logs.next();
    if (done === true || addressKey(stored) !== addressKey(cell) || sumOf(stored) !== sumOf(cell))
      differences.push(`${addressKey(cell)} is at another place in the logs`);
  }
  if ((await logs.next()).done !== true) differences.push('the logs have more cells');
  return differences;
}

async function* cellsOf(folder: string): AsyncGenerator<NewCell> {
  const { sources } = await openInput(folder, {});
  for (const source of sources)
    for await (const items of source.read(START)) for (const { cell } of items) if (cell) yield cell;
}

function sumOf({ body }: Pick<NewCell, 'body'>): string {
  return hash('sha1', stringifyJson(body), 'base64');
}
