/** `node sell-rooms.ts URL`: rates of a hotel are put, changed, read by version, put by many at once, and searched. */
import { setTimeout } from 'node:timers/promises';
import { openRates } from './rates.ts';

const url = process.argv[2] ?? 'http://127.0.0.1:4000';
const rates = openRates(url);
/** Of this run alone. */
const hotel_id = Math.floor(Math.random() * 2 ** 40);
const rateOf = (day: number, discount_percent: number, net_cents: number, room_type = 'double') => ({
  hotel_id,
  room_type,
  check_in_date: `2026-07-0${day}`,
  gateway: 'pegasus',
  discount_percent,
  net_cents,
});

// Creates the rate, or changes it if it exists.
const rate = await rates.put(rateOf(1, 10, 12_000));
console.log(`put: version ${rate.ref_key}`);
const again = await rates.put(rateOf(1, 10, 11_500));
console.log(`put again: ${again.uuid === rate.uuid ? 'the same row' : 'another row'}, version ${again.ref_key}`);

// `rate` has not seen version 1: without `rebase` the update would fail, and write nothing.
await rate.update({ net_cents: 11_000 }, { rebase: true });
for (let version: typeof rate.base | null = rate.base; version !== null; version = await version.previous())
  console.log(`version ${version.ref_key}: ${version.get('net_cents')} cents`);

await rate.cells.meta.update({ for_sale: false });
await rate.cells.meta.update({ for_sale: true });
console.log(`meta: version ${rate.cells.meta.ref_key}, base: still version ${rate.ref_key}`);

// Eight programs that have never heard of each other, at the same moment.
const putters = Array.from({ length: 8 }, (_, at) => openRates(url).put(rateOf(2, 25, 10_000 + at)));
const put = await Promise.all(putters);
const versions = put.map(({ ref_key }) => ref_key).sort();
console.log(`${put.length} putters: ${new Set(put.map(({ uuid }) => uuid)).size} row, versions ${versions.join(' ')}`);

await rates.put(rateOf(3, 30, 9_000));
await rates.put(rateOf(3, 40, 20_000, 'suite'));
// A rate is usually found at once, and a moment later if a server was busy.
while ((await rates.where({ hotel_id }).count()).count < 4) await setTimeout(100);
while ((await rates.indexes.byGateway.where({ gateway: 'pegasus', hotel_id }).count()).count < 4) await setTimeout(100);

const doubles = rates.where(
  { hotel_id, room_type: { ne: 'suite' }, check_in_date: { gte: '2026-07-02' } },
  { order: '-check_in_date' },
);
for await (const { body } of doubles) console.log(`double from the 2nd on: ${body.check_in_date}`);

const cheap = rates.indexes.byGateway.where(
  { gateway: 'pegasus', hotel_id, discount_percent: { gt: 10 } },
  { order: 'discount_percent' },
);
for await (const { body } of cheap) console.log(`over 10 % off: ${body.discount_percent} %, ${body.room_type}`);

// By its tuple, past the index: as it is now.
const found = await rates.find(rateOf(1, 0, 0));
console.log(`found: ${found?.get('net_cents')} cents, ${found?.cells.meta.get('for_sale') ? 'for sale' : 'not sold'}`);
