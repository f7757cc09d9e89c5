import { link, useAddress } from '../address.ts';
import type { ShownCell } from '../cells.ts';
import { html } from '../html.ts';
import { ONCE, useAnswer } from '../live.ts';
import { CliLine, Facts, Freshness, Line, Time } from '../parts.ts';
import { usePage } from '../session.ts';
import { visible } from '../text.ts';

/** What is at a place of a log: `233/17`. */
export function PlaceScreen() {
  const [shard = '', place = ''] = useAddress().parts;
  const live = useAnswer<{ readonly cells: readonly ShownCell[] }>(['shards', shard, 'cells'], ONCE, {
    query: { after: Math.max(0, Number(place) - 1), limit: 1 },
  });
  const cell = live.data?.cells.find(({ added_id }) => added_id === Number(place));
  return html`<h1>Place ${shard}/${place}</h1>
    <${Freshness} live=${live} />
    ${live.data && !cell && html`<p>Nothing is there: the log of shard ${shard} ends before, or the cell is not visible yet.</p>`}
    ${
      cell &&
      html`<${Facts}
      facts=${[
        [
          'Row',
          html`<a data-item href=${link(['row', cell.row_key], { column: cell.column_name || undefined, at: cell.added_id })}>${cell.row_key}</a>`,
        ],
        ['Column', cell.erasure ? `an erasure of the ${cell.erasure.scope}` : visible(cell.column_name)],
        ['Ref key', cell.ref_key],
        ['Stored', html`<${Time} at=${cell.created_at} />`],
      ]}
    />`
    }
    <p><a href=${link(['logs'], { shards: shard, from: Math.max(0, Number(place) - 20) })}>The log around it</a></p>
    <${CliLine} words=${['tail', shard, '--from', place, '-n', 1]} />`;
}

/** Where a request left its lines: the API keeps none itself, its logs do. */
export function RequestScreen() {
  const { session } = usePage();
  const [id = ''] = useAddress().parts;
  const isWord = /^[\w.:/+=@-]{1,128}$/u.test(id);
  return html`<h1>Request ${visible(id)}</h1>
    <p>It is no row key and no place (<code>shard/added id</code>), so it is taken for the id of a request, as answers have it in <code>x-request-id</code>. Its lines are in the logs:</p>
    ${
      isWord
        ? html`<${Line} label="Local stack" text=${`npm run local -- logs ${id}`} />
        <${Line} label="CloudWatch Logs Insights" text=${`fields @timestamp, @log, message, route, status, caller | filter request_id = "${id}" or gateway_request_id = "${id}" | sort @timestamp`} />`
        : html`<p class="trouble">No request has such an id: wanted up to 128 letters, digits and <code>. _ : / + = @ -</code></p>`
    }
    ${session.through && html`<p class="quiet">Opened through ${session.through.url}.</p>`}`;
}
