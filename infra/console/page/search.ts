import { go, link } from './address.ts';
import { isRowKey } from './text.ts';

function searched(datastore: string, text: string): string {
  const wanted = text.trim();
  if (isRowKey(wanted)) return link(datastore, ['row', wanted.toLowerCase()]);
  const [, shard, place] = /^(\d{1,6})\s*[/:]\s*(\d{1,16})$/u.exec(wanted) ?? [];
  if (shard !== undefined && place !== undefined) return link(datastore, ['place', shard, place]);
  if (/^\d{1,6}$/u.test(wanted)) return link(datastore, ['shards', wanted]);
  return link(datastore, ['request', wanted]);
}

export function search(datastore: string, text: string): void {
  if (text.trim() !== '') go(searched(datastore, text));
}
