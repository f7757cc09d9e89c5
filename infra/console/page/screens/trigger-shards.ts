import type { TriggerDetails, TriggerShard } from '../../../../shared/api/trigger-shapes.ts';
import { link } from '../address.ts';
import { collected, pagesOf } from '../feed.ts';
import { useLive } from '../live.ts';
import { html } from '../html.ts';
import { Badge, shownOf } from '../parts.ts';
import { column, counts, links, table } from '../table.ts';
import { countText, durationText } from '../text.ts';

export function Shards({ name }: { readonly name: string }) {
  const live = useLive(
    async (ask) => {
      const pages = pagesOf<TriggerDetails>(ask, ['triggers', name], { limit: 1000 });
      // Shards that are behind come first.
      return (await collected(pages, ({ shards }) => shards)).toSorted(
        (one, other) => (other.cells ?? 0) - (one.cells ?? 0) || other.parked - one.parked || one.shard - other.shard,
      );
    },
    10_000,
    name,
  );
  return shownOf(live, (items) =>
    table<TriggerShard>({
      label: 'Shards, those that are behind first',
      items,
      keyOf: ({ shard }) => String(shard),
      columns: [
        links('Shard', '10ch', ({ shard }) => [shard, link(['shards', shard])], { isNumber: true }),
        counts('Log end', '11ch', ({ head }) => head),
        counts('Sent up to', '11ch', ({ offset }) => offset),
        counts('Consumed up to', '15ch', ({ consumed }) => consumed),
        column(
          'Behind',
          '16ch',
          ({ cells, seconds }) =>
            cells === null ? 'unknown' : cells === 0 ? '0' : `${countText(cells)}, ${durationText(seconds)}`,
          { isNumber: true },
        ),
        column('Parked', '9ch', ({ parked }) => (parked === 0 ? '0' : html`<${Badge} tone="warn">${parked}<//>`), {
          isNumber: true,
        }),
        counts('Failing', '9ch', ({ failing }) => failing),
      ],
    }),
  );
}
