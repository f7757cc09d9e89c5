import { link, useAddress } from '../address.ts';
import type { ShownCell } from '../cells.ts';
import { html } from '../html.ts';
import { ONCE, useAnswer } from '../live.ts';
import { CliLine, Facts, Freshness, Line, Time } from '../parts.ts';
import { usePage } from '../session.ts';
import { visible } from '../text.ts';

/** Shows the cell at a position of a log: `233:17`. */
export function PositionScreen() {
  const [shard = '', position = ''] = useAddress().parts;
  const live = useAnswer<{ readonly cells: readonly ShownCell[] }>(['shards', shard, 'cells'], ONCE, {
    query: { after: Math.max(0, Number(position) - 1), limit: 1 },
  });
  const cell = live.data?.cells.find(({ added_id }) => added_id === Number(position));
  return html`<h1>Position ${shard}:${position}</h1>
    <${Freshness} live=${live} />
    ${live.data && !cell && html`<p>No cell is there: the log of shard ${shard} ends before, or the cell is not visible yet.</p>`}
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
        ['Stored', html`<${Time} at=${cell.created_at} isExact />`],
      ]}
    />`
    }
    <p><a href=${link(['logs'], { shards: shard, from: Math.max(0, Number(position) - 20) })}>The log around it</a></p>
    <${CliLine} words=${['tail', shard, '--from', position, '-n', 1]} />`;
}

/** Shows how to find a request's lines, which are only in the API's logs. */
export function RequestScreen() {
  const { session } = usePage();
  const [id = ''] = useAddress().parts;
  const isWord = /^[\w.:/+=@-]{1,128}$/u.test(id);
  return html`<h1>Request ${visible(id)}</h1>
    <p>Answers have the id of their request in <code>x-request-id</code>. These commands find its log lines:</p>
    ${
      isWord
        ? html`<${Line} label="Local stack" text=${`npm run local -- logs ${id}`} />
        <${Line} label="CloudWatch Logs Insights" text=${`fields @timestamp, @log, message, route, status, caller | filter request_id = "${id}" or gateway_request_id = "${id}" | sort @timestamp`} />`
        : html`<p class="trouble">No request has such an id: wanted up to 128 letters, digits and <code>. _ : / + = @ -</code></p>`
    }
    ${session.through && html`<p class="quiet">Opened through ${session.through.url}.</p>`}`;
}
