import type { TriggerDetails, TriggerShard } from '../../../../shared/api/trigger-shapes.ts';
import { link } from '../address.ts';
import { collected, pagesOf } from '../feed.ts';
import { useLive } from '../live.ts';
import { shownOf } from '../parts.ts';
import { column, counts, links, table } from '../table.ts';
import { countText, durationText } from '../text.ts';

export function Shards({ name }: { readonly name: string }) {
  const live = useLive(
    async (ask) => {
      const pages = pagesOf<TriggerDetails>(ask, ['triggers', name], { limit: 1000 });
      // Those that are behind come first.
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
    }),
  );
}
