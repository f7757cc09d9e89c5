import type { ParkedCell, TriggerSummary } from '../../../../shared/api/trigger-shapes.ts';
import { ActionButton } from '../actions.ts';
import { html } from '../html.ts';
import type { Action } from '../session.ts';
import { counted, countedAre, countText, positionOf, visible } from '../text.ts';

const MOST_NAMED = 100;
/** The cells of one request: small batches show progress. */
const BATCH = 200;

interface Answered {
  readonly wanted?: number;
  readonly discarded?: number;
  readonly not_parked: readonly unknown[];
}

interface Chosen {
  readonly name: string;
  readonly cells: readonly ParkedCell[] | 'all';
  readonly label: string;
  readonly count?: number;
  readonly onDone: () => void;
}

export function actionsFor(chosen: Chosen) {
  if (chosen.cells.length === 0) return null;
  return html`<${ActionButton} label=${`Retry ${chosen.label} …`} action=${parkedAction(chosen, 'retry')} />
    <${ActionButton} label=${`Discard ${chosen.label} …`} action=${parkedAction(chosen, 'discard')} />`;
}

function parkedAction({ name, cells, count = cells.length, onDone }: Chosen, verb: 'retry' | 'discard'): Action {
  const isRetry = verb === 'retry';
  const words =
    cells === 'all'
      ? ['--all']
      : cells.length > MOST_NAMED
        ? [...cells.slice(0, MOST_NAMED).map(positionOf), '…']
        : cells.map(positionOf);
  return {
    title: isRetry ? `Retry ${counted(count, 'cell')}` : `Discard ${counted(count, 'cell')}`,
    operation: isRetry ? 'retryParkedCells' : 'discardParkedCells',
    cli: ['parked', verb, name, ...words],
    ...(!isRetry && { word: 'discard' }),
    foresee: async (ask) => {
      const summary = await ask<TriggerSummary>(['triggers', name], { query: { limit: 1 } });
      const { state, parked, malformed } = summary;
      const number = cells === 'all' ? parked : cells.length;
      return {
        nothing: number + (cells === 'all' ? malformed : 0) === 0,
        says: isRetry
          ? `${countedAre(number, 'cell')} sent to ${name} again, marked as replays; cells that fail again stay parked.${state === 'running' ? '' : ` The trigger is ${state}: they are sent once it is resumed.`}`
          : `${countedAre(number, 'cell')} discarded permanently: ${name} is not called for them any more.${cells === 'all' && malformed > 0 ? ` So are ${counted(malformed, 'message')} that could not be read.` : ''} The cells themselves stay where they are.`,
        ...(cells !== 'all' && {
          some: cells.slice(0, 10).map((cell) => `${positionOf(cell)}: ${visible(cell.last_error.slice(0, 100))}`),
        }),
      };
    },
    act: async ({ report, ask }) => {
      const send = async (choice: unknown): Promise<{ readonly done: number; readonly missing: number }> => {
        const answer = await ask<Answered>(['triggers', name, 'parked', verb], { body: { cells: choice } });
        return { done: answer.wanted ?? answer.discarded ?? 0, missing: answer.not_parked.length };
      };
      let [done, missing] = [0, 0];
      if (cells === 'all') ({ done, missing } = await send('*'));
      else
        for (let at = 0; at < cells.length; at += BATCH) {
          report(at, cells.length);
          const batch = await send(cells.slice(at, at + BATCH).map(({ shard, added_id }) => ({ shard, added_id })));
          [done, missing] = [done + batch.done, missing + batch.missing];
        }
      const gone = missing === 0 ? '' : ` ${countText(missing)} were not parked any more.`;
      return `${counted(done, 'cell')} ${isRetry ? 'will be sent again' : 'were discarded'}.${gone}`;
    },
    onDone,
  };
}
