import type { TriggerDetails, TriggerShard } from '../../../../shared/contract/trigger-operations.ts';
import { link } from '../address.ts';
import { apiPath } from '../api.ts';
import type { Ask } from '../feed.ts';
import { html } from '../html.ts';
import { useLive } from '../live.ts';
import { Freshness } from '../parts.ts';
import { usePage } from '../session.ts';
import { table } from '../table.ts';
import { countText, durationText } from '../text.ts';

export async function* shardPages(datastore: string, name: string, ask: Ask): AsyncGenerator<readonly TriggerShard[]> {
  let after: number | undefined;
  do {
    const page = (await ask(apiPath(datastore, ['triggers', name], { limit: 1000, after }))) as TriggerDetails;
    yield page.shards;
    after = page.next ?? undefined;
  } while (after !== undefined);
}

export function Shards({ name }: { readonly name: string }) {
  const { datastore } = usePage();
  const live = useLive(
    async (ask) => {
      const all: TriggerShard[] = [];
      for await (const page of shardPages(datastore, name, ask)) all.push(...page);
      // Those that are behind come first.
      return all.sort(
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
          {
            header: 'Shard',
            value: ({ shard }) => html`<a data-item href=${link(datastore, ['shards', shard])}>${shard}</a>`,
            width: '10ch',
            isNumber: true,
          },
          { header: 'Log ends at', value: ({ head }) => countText(head), width: '14ch', isNumber: true },
          { header: 'Sent up to', value: ({ offset }) => countText(offset), width: '14ch', isNumber: true },
          { header: 'Consumed up to', value: ({ consumed }) => countText(consumed), width: '16ch', isNumber: true },
          {
            header: 'Behind',
            value: ({ cells, seconds }) =>
              cells === null ? 'unknown' : cells === 0 ? '0' : `${countText(cells)}, ${durationText(seconds)}`,
            width: '20ch',
            isNumber: true,
          },
          { header: 'Parked', value: ({ parked }) => countText(parked), width: '9ch', isNumber: true },
          { header: 'Failing', value: ({ failing }) => countText(failing), width: '9ch', isNumber: true },
        ],
      })
    }`;
}
