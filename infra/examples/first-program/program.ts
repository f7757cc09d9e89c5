/** Writes, reads, searches, follows and consumes. */
import { defineDatastore, openDatastore } from '@schemaless-store/schemaless';
import { consume, triggerHandler } from '@schemaless-store/schemaless/triggers';
import { z } from 'zod';

const notes = defineDatastore({
  name: 'notes',
  columns: { NOTE: z.object({ author: z.string(), text: z.string(), stars: z.int() }), WORDS: z.int() },
  indexes: { author_index: { shardOn: { author: 'string' }, fields: { stars: 'integer' } } },
  triggers: { count_words: { columns: ['NOTE'] } },
});
const store = openDatastore(notes, { url: process.env['SCHEMALESS_API_URL'] ?? 'http://127.0.0.1:4000' });
const [row_key, author] = [crypto.randomUUID(), `ada-${Date.now()}`];

await store.put({ row_key, column_name: 'NOTE', ref_key: 1, body: { author, text: 'to be fixed', stars: 3 } });
await store.put({ row_key, column_name: 'NOTE', ref_key: 2, body: { author, text: 'fixed by now', stars: 5 } });
const { cell } = await store.getLatest({ row_key, column_name: 'NOTE' });
console.log('latest', cell?.ref_key, cell?.body.text);
const { entries } = await store.query('author_index', { where: { author, stars: { gte: 4 } }, fields: ['stars'] });
console.log('found', entries.length, entries[0]?.fields.stars);

const done = new AbortController();
const countWords = triggerHandler(notes, 'count_words', async (rowKey, { ref_key }, { get, put }) => {
  const { cell: note } = await get({ row_key: rowKey, column_name: 'NOTE', ref_key });
  if (note) await put({ row_key: rowKey, column_name: 'WORDS', ref_key, body: note.body.text.split(' ').length });
});
const consuming = consume(countWords, { signal: done.signal });

for await (const { cell: seen } of store.tail({ from: 'start' })) {
  if (seen.row_key === row_key) console.log('tailed', seen.column_name, seen.ref_key);
  if (seen.row_key === row_key && seen.column_name === 'WORDS' && seen.ref_key === 2) break;
}
done.abort();
await consuming;
