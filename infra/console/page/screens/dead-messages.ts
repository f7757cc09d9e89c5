import { useState } from 'preact/hooks';
import type { DeadMessageShown } from '../../../../shared/api/trigger-shapes.ts';
import type { Action } from '../action.ts';
import { ActionButton } from '../actions.ts';
import { link } from '../address.ts';
import { apiPath, askBeside, post } from '../api.ts';
import { html } from '../html.ts';
import { cliLine, usePage } from '../session.ts';
import { column, times, table } from '../table.ts';
import { counted, countText } from '../text.ts';

/** What SQS gave up on: looked at only where somebody asks, since a look hides them for a moment. */
export function Dead({ name, count }: { readonly name: string; readonly count: number }) {
  const page = usePage();
  const { datastore } = page;
  const [messages, setMessages] = useState<readonly DeadMessageShown[]>();
  const path = ['triggers', name, 'dead'];
  const look = (): void => {
    void askBeside<{ messages: readonly DeadMessageShown[] }>(apiPath(datastore, path, { limit: 1000 })).then(
      (answer) => setMessages(answer.messages),
    );
  };
  const act = (verb: 'replay' | 'discard'): Action => ({
    title: verb === 'replay' ? 'Send them again' : 'Delete them',
    operation: verb === 'replay' ? 'replayDeadMessages' : 'discardDeadMessages',
    cli: cliLine(page, ['parked', verb === 'replay' ? 'retry' : 'discard', name, '--dead']),
    ...(verb === 'discard' && { word: 'discard' }),
    foresee: async () => ({
      says:
        verb === 'replay'
          ? `The cells of about ${counted(count, 'message')} are parked and sent again soon, as replays.`
          : `About ${counted(count, 'message')} are deleted. The cells themselves stay where they are.`,
    }),
    act: async ({ signal }) => {
      const answer = await post<{ replayed?: number; discarded?: number; left: number }>(
        apiPath(datastore, [...path, verb]),
        {},
        signal,
      );
      return `${counted(answer.replayed ?? answer.discarded ?? 0, 'message')}${answer.left > 0 ? `; about ${countText(answer.left)} are left: do it again` : ''}.`;
    },
  });
  return html`<h2>Given up by SQS: ${countText(count)}</h2>
    <div class="bar">
      <button type="button" onClick=${look}>Look at them</button>
      <${ActionButton} label="Send them again …" action=${act('replay')} />
      <${ActionButton} label="Delete them …" action=${act('discard')} />
    </div>
    ${
      messages &&
      table<DeadMessageShown>({
        label: 'Messages that SQS gave up on',
        items: messages,
        keyOf: ({ message_id }) => message_id,
        columns: [
          times('Sent', '24ch', ({ sent_at }) => sent_at),
          column('Cell', '16ch', ({ cell }) =>
            cell
              ? html`<a href=${link(datastore, ['row', cell.row_key], { at: cell.added_id })}>${cell.shard}/${cell.added_id}</a>`
              : 'none of ours',
          ),
          column('Sent again since', '18ch', ({ resent }) => (resent ? 'yes' : 'no')),
        ],
      })
    }`;
}
