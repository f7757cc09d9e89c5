import type { TriggerDetails, TriggerShard } from '../../../../shared/api/trigger-shapes.ts';
import { link } from '../address.ts';
import { apiPath } from '../api.ts';
import { type Ask, collected, pagesOf } from '../feed.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Freshness } from '../parts.ts';
import { usePage } from '../session.ts';
import { column, counts, links, table } from '../table.ts';
import { countText, durationText } from '../text.ts';

export function shardPages(datastore: string, name: string, ask: Ask): AsyncGenerator<TriggerDetails> {
  return pagesOf<TriggerDetails>((after) => ask(apiPath(datastore, ['triggers', name], { limit: 1000, after })));
}

export function Shards({ name }: { readonly name: string }) {
  const { datastore } = usePage();
  const live = useLive(
    async (ask) => {
      const all = await collected(shardPages(datastore, name, ask), ({ shards }) => shards);
      // Those that are behind come first.
      return all.toSorted(
        (one, other) => (other.cells ?? 0) - (one.cells ?? 0) || other.parked - one.parked || one.shard - other.shard,
      );
    },
    `${datastore} ${name}`,
    10_000,
  );
  return html`<${Freshness} live=${live} />
    ${
      live.data &&
      table<TriggerShard>({
        label: 'Shards, those that are behind first',
        items: live.data,
        keyOf: ({ shard }) => String(shard),
        columns: [
          links('Shard', '10ch', ({ shard }) => [shard, link(datastore, ['shards', shard])], { isNumber: true }),
          counts('Log ends at', '14ch', ({ head }) => head),
          counts('Sent up to', '14ch', ({ offset }) => offset),
          counts('Consumed up to', '16ch', ({ consumed }) => consumed),
          column(
            'Behind',
            '20ch',
            ({ cells, seconds }) =>
              cells === null ? 'unknown' : cells === 0 ? '0' : `${countText(cells)}, ${durationText(seconds)}`,
            { isNumber: true },
          ),
          counts('Parked', '9ch', ({ parked }) => parked),
          counts('Failing', '9ch', ({ failing }) => failing),
        ],
      })
    }`;
}
